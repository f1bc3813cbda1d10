// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/live_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <tuple>

#include "profiler/report/owners.h"
#include "profiler/text/harmless.h"
#include "profiler/text/size_text.h"

namespace vramscope::viewer {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// '*' in the pattern matches any number of characters.
bool Glob(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool Contains(std::string_view text, const std::string& pattern) {
  return Glob("*" + pattern + "*", Lower(text));
}

}  // namespace

Result<RowFilter> RowFilter::Parse(std::string_view text) {
  RowFilter filter;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const std::string word = Lower(text.substr(0, space));
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    if (word.empty()) continue;
    Term term{.text = word};
    const size_t mark = word.find_first_of(":<>");
    if (mark != std::string::npos) {
      const std::string column = word.substr(0, mark);
      static constexpr std::array<std::pair<const char*, Column>, 6> kColumns = {
          {{"category", Column::kCategory},
           {"name", Column::kName},
           {"module", Column::kModule},
           {"op", Column::kOp},
           {"step", Column::kStep},
           {"size", Column::kBytes}}};
      const auto known =
          std::find_if(kColumns.begin(), kColumns.end(), [&](const auto& c) { return column == c.first; });
      // "aten::mm" is a word of its own.
      if (known != kColumns.end()) {
        term = {known->second, word[mark], word.substr(mark + 1), 0};
      } else if (word[mark] != ':') {
        return Error{fmt::format("\"{}\": only size can be compared, as in size>1MiB.", text::OneLine(word))};
      }
    }
    if (term.column == Column::kBytes) {
      std::string size = term.text;  // "1mib" as ParseSize wants it: "1MiB"
      for (char& c : size)
        c = c == 'i' ? 'i' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      const Result<uint64_t> bytes = text::ParseSize("size", size);
      if (!bytes.ok())
        return Error{fmt::format("\"{}\": a size must be like 512KiB, 1MiB or 2GiB.", text::OneLine(word))};
      term.number = *bytes;
    } else if (term.column == Column::kStep) {
      const char* end = term.text.data() + term.text.size();
      const auto parsed = std::from_chars(term.text.data(), end, term.number);
      if (parsed.ec != std::errc() || parsed.ptr != end)
        return Error{fmt::format("\"{}\": a step must be a number, as in step:3.", text::OneLine(word))};
    } else if (term.comparison != ':') {
      return Error{fmt::format("\"{}\": only size and step can be compared.", text::OneLine(word))};
    }
    filter.terms_.push_back(std::move(term));
  }
  return filter;
}

bool RowFilter::Matches(const LiveRow& row) const {
  const auto compare = [](const Term& term, uint64_t value) {
    if (term.comparison == '<') return value < term.number;
    return term.comparison == '>' ? value > term.number : value == term.number;
  };
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    switch (term.column) {
      case Column::kCategory:
        return Contains(classify::Info(row.category).key, term.text);
      case Column::kName:
        return Contains(row.name, term.text);
      case Column::kModule:
        return Glob(term.text, Lower(row.module));
      case Column::kOp:
        return Contains(row.op, term.text);
      case Column::kStep:
        return compare(term, row.step);
      case Column::kBytes:
        return compare(term, row.bytes);
      case Column::kAny:
        break;
    }
    return Contains(row.name, term.text) || Contains(row.module, term.text) || Contains(row.op, term.text) ||
           Contains(classify::Info(row.category).name, term.text);
  });
}

void LiveTable::Update(const Document& document, const DeviceView& device, model::EventIndex moment,
                       const std::string& filter) {
  const bool same_file = document_ == &document && device_ == &device;
  if (same_file && moment_ == moment && filter_ == filter) return;
  if (!same_file || moment_ != moment) {
    if (document_ != &document) {
      origins_ = std::make_unique<classify::Origins>(*document.run, document.analysis->training());
    }
    document_ = &document;
    device_ = &device;
    moment_ = moment;
    const model::Run& run = *document.run;
    const classify::Analysis& analysis = *document.analysis;
    const timeline::Training& training = document.training(device);
    all_.clear();
    for (const model::BlockId id : device.live.At(moment_)) {
      const model::Block& block = run.blocks[id];
      const report::Place place = report::PlaceOf(analysis, *origins_, id);
      const timeline::Step* step = training.StepAt(block.alloc_event);
      all_.push_back({id, block.size, block.address, run.times.TimeOf(block.alloc_event),
                      step == nullptr ? 0 : step->number, analysis.categories().At(id, moment).category,
                      analysis.names().Of(id), place.module, place.node.empty() ? place.op : place.node});
    }
  }
  filter_ = filter;
  Filter();
}

void LiveTable::Filter() {
  const Result<RowFilter> filter = RowFilter::Parse(filter_);
  filter_error_ = filter.ok() ? "" : filter.error().sentence;
  rows_.clear();
  bytes_ = 0;
  for (const LiveRow& row : all_) {
    if (filter.ok() && !filter.value().Matches(row)) continue;
    rows_.push_back(row);
    bytes_ += row.bytes;
  }
  SortRows();
}

void LiveTable::Sort(LiveColumn column, bool descending) {
  if (column == column_ && descending == descending_) return;
  column_ = column;
  descending_ = descending;
  SortRows();
}

void LiveTable::SortRows() {
  const auto by = [&](auto key) {
    std::stable_sort(rows_.begin(), rows_.end(), [&](const LiveRow& a, const LiveRow& b) {
      return descending_ ? key(b) < key(a) : key(a) < key(b);
    });
  };
  switch (column_) {
    case LiveColumn::kNumber:
    case LiveColumn::kBorn:
      return by([](const LiveRow& row) { return row.block; });
    case LiveColumn::kBytes:
      return by([](const LiveRow& row) { return row.bytes; });
    case LiveColumn::kCategory:
      return by([](const LiveRow& row) { return row.category; });
    case LiveColumn::kName:
      return by([](const LiveRow& row) { return row.name; });
    case LiveColumn::kModule:
      return by([](const LiveRow& row) { return row.module; });
    case LiveColumn::kOp:
      return by([](const LiveRow& row) { return row.op; });
    case LiveColumn::kAddress:
      return by([](const LiveRow& row) { return row.address; });
  }
}

std::string LiveTable::ToCsv() const {
  const auto quoted = [](std::string_view text) {
    std::string result = "\"";
    for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + "\"";
  };
  std::string csv = "number,bytes,category,name,module,op,step,born_ns,address\n";
  for (const LiveRow& row : rows_) {
    csv += fmt::format("{},{},{},{},{},{},{},{},{:#x}\n", row.block + 1, row.bytes,
                       classify::Info(row.category).key, quoted(row.name), quoted(row.module), quoted(row.op),
                       row.step, row.born_ns, row.address);
  }
  return csv;
}

}  // namespace vramscope::viewer
