// SPDX-License-Identifier: Apache-2.0
#include "profiler/packing/csv.h"

#include <array>

#include "profiler/text/number.h"

namespace vramscope::packing {
namespace {

constexpr std::array<std::string_view, 4> kColumns = {"id", "lower", "upper", "size"};
constexpr size_t kNotThere = ~size_t{0};
constexpr uint64_t kMaxBytes = uint64_t{1} << 48;
constexpr uint64_t kMaxSum = uint64_t{1} << 62;

std::string_view NextLine(std::string_view* text) {
  const size_t end = text->find('\n');
  std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<std::string_view> Fields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

template <typename T>
bool Parse(std::string_view text, T* number) {
  const auto parsed = text::ParseNumber<T>(text);
  if (parsed) *number = *parsed;
  return parsed.has_value();
}

}  // namespace

Result<NamedItems> ParseCsv(std::string_view text) {
  const std::vector<std::string_view> heading = Fields(NextLine(&text));
  std::array<size_t, kColumns.size()> column;
  for (size_t i = 0; i < kColumns.size(); ++i) {
    column[i] = kNotThere;
    for (size_t at = 0; at < heading.size(); ++at) {
      if (heading[at] == kColumns[i]) column[i] = at;
    }
    if (column[i] == kNotThere)
      return Error{"line 1 names no column \"" + std::string(kColumns[i]) +
                   "\"; the heading must be id,lower,upper,size"};
  }
  NamedItems named;
  uint64_t sum = 0;
  for (size_t number = 2; !text.empty(); ++number) {
    const std::string_view line = NextLine(&text);
    if (line.empty()) continue;
    const std::vector<std::string_view> fields = Fields(line);
    Item item;
    if (fields.size() < heading.size() || !Parse(fields[column[1]], &item.begin) ||
        !Parse(fields[column[2]], &item.end) || !Parse(fields[column[3]], &item.bytes) ||
        item.end <= item.begin || item.bytes > kMaxBytes) {
      return Error{"line " + std::to_string(number) +
                   " is not an item: it needs whole numbers, lower < upper, and a size of at most 2^48"};
    }
    sum += item.bytes;
    if (sum > kMaxSum) return Error{"its sizes add up to more than 2^62 bytes"};
    named.items.push_back(item);
    named.names.emplace_back(fields[column[0]]);
  }
  return named;
}

std::string OffsetsCsv(const NamedItems& named, const Packing& packing) {
  std::string text = "id,lower,upper,size,offset\n";
  for (size_t i = 0; i < named.items.size(); ++i) {
    const Item& item = named.items[i];
    text += named.names[i];
    for (const int64_t number : {item.begin, item.end}) text.append(",").append(std::to_string(number));
    for (const uint64_t number : {item.bytes, packing.offsets[i]})
      text.append(",").append(std::to_string(number));
    text += '\n';
  }
  return text;
}

}  // namespace vramscope::packing
