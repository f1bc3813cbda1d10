// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/live_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <tuple>
#include <utility>

#include "profiler/report/owners.h"
#include "profiler/text/harmless.h"
#include "profiler/text/size_text.h"

namespace vramscope::viewer {
namespace {

constexpr double kSearchPerFrame = 0.004;  // seconds

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
      static constexpr std::array<std::pair<const char*, Column>, 8> kColumns = {
          {{"category", Column::kCategory},
           {"name", Column::kName},
           {"module", Column::kModule},
           {"in", Column::kWithin},
           {"op", Column::kOp},
           {"line", Column::kLine},
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
      std::string size = term.text;  // "1mib" as ParseSize reads it: "1MiB"
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
      case Column::kWithin: {
        const std::string module = Lower(row.module);
        return Glob(term.text, module) || Glob(term.text + ".*", module);
      }
      case Column::kOp:
        return Contains(row.op, term.text);
      case Column::kLine:
        return Contains(row.line, term.text);
      case Column::kStep:
        return compare(term, row.step);
      case Column::kBytes:
        return compare(term, row.bytes);
      case Column::kAny:
        break;
    }
    return Contains(row.name, term.text) || Contains(row.module, term.text) || Contains(row.op, term.text) ||
           Contains(row.line, term.text) || Contains(classify::Info(row.category).name, term.text);
  });
}

void LiveTable::Update(const Document& document, const DeviceView& device, model::EventIndex moment,
                       const std::string& filter, const ListedBlocks& listed) {
  const bool live = listed.kind == ListedBlocks::Kind::kLive;
  const bool same_file = document_ == &document && device_ == &device;
  const bool same = same_file && listed_ == listed && filter_ == filter && (!live || moment_ == moment);
  if (same && busy()) Search(kSearchPerFrame);
  if (same) return;
  const bool other_blocks = !same_file || listed_ != listed || moment_ != moment;
  if (document_ != &document) {
    origins_ = std::make_unique<classify::Origins>(*document.run, document.analysis->training());
    frames_ = std::make_unique<report::FramesToShow>(*document.run);
    const auto& metadata = document.run->source->metadata();
    const auto begin = metadata.find(model::kBeginKey);
    in_the_middle_ = begin != metadata.end() && begin->second == model::kInTheMiddle;
  }
  document_ = &document;
  device_ = &device;
  moment_ = moment;
  listed_ = listed;
  filter_ = filter;
  if (!live) return BeginSearch();
  to_search_ = searched_ = 0;
  if (other_blocks) ListLive(same_file ? std::exchange(all_, {}) : std::vector<LiveRow>());
  count_ = all_.size();
  Filter();
}

// From one moment to the next, most blocks stay. Both lists are in the order of allocations.
void LiveTable::ListLive(const std::vector<LiveRow>& before) {
  all_.clear();
  auto known = before.begin();
  for (const model::BlockId id : device_->live.At(moment_)) {
    while (known != before.end() && known->block < id) ++known;
    if (known == before.end() || known->block != id) {
      all_.push_back(RowOf(id, moment_));
    } else {
      all_.push_back(*known);
      SetCategory(all_.back(), moment_);
    }
  }
}

LiveRow LiveTable::RowOf(model::BlockId id, model::EventIndex at) {
  const model::Run& run = *document_->run;
  const classify::Analysis& analysis = *document_->analysis;
  const model::Block& block = run.blocks[id];
  const report::Place place = report::PlaceOf(analysis, *origins_, id);
  const timeline::Step* step = document_->training(*device_).StepAt(block.alloc_event);
  LiveRow row = {.block = id,
                 .bytes = block.size,
                 .address = block.address,
                 .born_ns = run.times.TimeOf(block.alloc_event),
                 .step = step == nullptr ? 0 : step->number,
                 .name = analysis.names().Of(id),
                 .module = place.module,
                 .op = place.node.empty() ? place.op : place.node,
                 .line = frames_->Of(block.stack),
                 .freed = block.free_event};
  row.before_recording = in_the_middle_ && row.born_ns == run.times.TimeOf(0);
  SetCategory(row, at);
  return row;
}

void LiveTable::SetCategory(LiveRow& row, model::EventIndex at) const {
  row.category = document_->analysis->categories().At(row.block, at).category;
  row.guessed = document_->snapshot != nullptr && row.category != classify::Category::kUnattributed;
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
  matched_ = rows_.size();
  SortRows();
}

void LiveTable::BeginSearch() {
  Result<RowFilter> filter = RowFilter::Parse(filter_);
  filter_error_ = filter.ok() ? "" : filter.error().sentence;
  all_.clear();
  rows_.clear();
  found_.clear();
  bytes_ = matched_ = count_ = searched_ = to_search_ = 0;
  if (!filter.ok()) return;
  search_filter_ = std::move(filter.value());
  to_search_ = document_->run->devices[device_->index].changes.size();
  Search(kSearchPerFrame);
}

void LiveTable::Search(double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t kBetweenLooks = 256;  // at the clock
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  const model::Run& run = *document_->run;
  const auto& changes = run.devices[device_->index].changes;
  const bool whole = listed_.kind == ListedBlocks::Kind::kRun;
  for (size_t until_look = kBetweenLooks; searched_ < to_search_; ++searched_) {
    const model::Change change = changes[searched_];
    if (!whole && change.event > listed_.last) {
      searched_ = to_search_;
      break;
    }
    if (change.freed()) continue;
    const model::Block& block = run.blocks[change.block()];
    if (!whole && block.free_event <= listed_.first) continue;
    ++count_;
    // The row at the block's end, or at the end of the range.
    const model::EventIndex last = whole ? run.event_count() - 1 : listed_.last;
    LiveRow row = RowOf(change.block(), std::min(last, block.free_event - 1));
    bool matches = search_filter_->Matches(row);
    const classify::Categories& categories = document_->analysis->categories();
    if (!matches && categories.Changes(change.block())) {  // or a category that it had earlier
      for (const classify::Stretch& stretch : categories.Of(change.block())) {
        if (matches || stretch.begin > last) break;
        row.category = stretch.category;
        matches = search_filter_->Matches(row);
      }
    }
    if (matches) {
      ++matched_;
      bytes_ += row.bytes;
      found_.push_back(row);
      if (found_.size() >= 2 * kMostFound) KeepLargest();
    }
    if (--until_look != 0) continue;
    until_look = kBetweenLooks;
    if (Clock::now() < end) continue;
    ++searched_;
    break;
  }
  if (busy()) return;
  KeepLargest();
  rows_ = std::move(found_);
  found_ = {};
  SortRows();
}

void LiveTable::KeepLargest() {
  if (found_.size() <= kMostFound) return;
  std::nth_element(found_.begin(), found_.begin() + kMostFound, found_.end(),
                   [](const LiveRow& a, const LiveRow& b) {
                     return a.bytes != b.bytes ? a.bytes > b.bytes : a.block < b.block;
                   });
  found_.resize(kMostFound);
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
    case LiveColumn::kLine:
      return by([](const LiveRow& row) { return row.line; });
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
  std::string csv = "number,bytes,category,name,module,op,step,born_ns,address,line,freed_ns\n";
  for (const LiveRow& row : rows_) {
    const std::string freed =
        row.freed == model::kNever ? "" : std::to_string(document_->run->times.TimeOf(row.freed));
    csv += fmt::format("{},{},{},{},{},{},{},{},{:#x},{},{}\n", row.block + 1, row.bytes,
                       classify::Info(row.category).key, quoted(row.name), quoted(row.module), quoted(row.op),
                       row.step, row.born_ns, row.address, quoted(row.line), freed);
  }
  return csv;
}

}  // namespace vramscope::viewer
