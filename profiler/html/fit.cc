// SPDX-License-Identifier: Apache-2.0
#include "profiler/html/fit.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "profiler/text/json_dump.h"

namespace vramscope::html {
namespace {

using Json = nlohmann::ordered_json;

struct Limits {
  size_t text = 400;     // bytes
  size_t entries = 600;  // entries of a list
};
constexpr Limits kLeast = {24, 8};

uint64_t PeakOf(const Json& step) {
  const auto peak = step.find("peak");
  return peak == step.end() ? 0 : peak->value("allocated_bytes", uint64_t{0});
}

// Keeps `most` steps in their order: the first ones, the last ones, and in between those with the highest
// peaks.
void CutSteps(Json& steps, size_t most) {
  const size_t at_an_end = most / 4;
  std::vector<size_t> between;
  for (size_t i = at_an_end; i + at_an_end < steps.size(); ++i) between.push_back(i);
  std::stable_sort(between.begin(), between.end(),
                   [&](size_t a, size_t b) { return PeakOf(steps[a]) > PeakOf(steps[b]); });
  between.resize(std::min(between.size(), most - 2 * at_an_end));
  std::sort(between.begin(), between.end());
  Json kept = Json::array();
  for (size_t i = 0; i < at_an_end; ++i) kept.push_back(std::move(steps[i]));
  for (const size_t i : between) kept.push_back(std::move(steps[i]));
  for (size_t i = steps.size() - at_an_end; i < steps.size(); ++i) kept.push_back(std::move(steps[i]));
  steps = std::move(kept);
}

void Cut(Json& value, const Limits& limits) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() > limits.text) value = CutText(text, limits.text);
  } else if (value.is_array()) {
    if (value.size() > limits.entries)
      value.erase(value.begin() + static_cast<ptrdiff_t>(limits.entries), value.end());
    for (Json& entry : value) Cut(entry, limits);
  } else if (value.is_object()) {
    for (auto& [key, entry] : value.items()) {
      if (key == "steps" && entry.is_array() && entry.size() > limits.entries)
        CutSteps(entry, limits.entries);
      Cut(entry, limits);
    }
  }
}

}  // namespace

size_t SizeOf(const Json& document) { return text::Dump(document, -1).size(); }

std::string CutText(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "\u2026";
}

Json Fit(Json& document, size_t budget) {
  std::vector<std::pair<std::string, size_t>> before;
  for (const auto& [key, value] : document.items())
    if (value.is_array()) before.emplace_back(key, value.size());
  Limits limits;
  Cut(document, limits);
  while (SizeOf(document) > budget && (limits.text > kLeast.text || limits.entries > kLeast.entries)) {
    limits.text = std::max(limits.text / 2, kLeast.text);
    limits.entries = std::max(limits.entries / 2, kLeast.entries);
    Cut(document, limits);
  }
  Json lost = Json::object();
  for (const auto& [key, size] : before)
    if (document[key].size() < size) lost[key] = size - document[key].size();
  return lost;
}

std::string ScriptSafe(const Json& document) {
  const std::string plain = text::Dump(document, -1);
  std::string safe;
  safe.reserve(plain.size());
  for (const char c : plain) {
    if (c == '<') {
      safe += "\\u003c";  // in JSON, `<` occurs only inside strings
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string EscapeText(std::string_view text) {
  std::string safe;
  for (const char c : text::OneLine(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

}  // namespace vramscope::html
