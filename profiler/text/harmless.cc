// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/harmless.h"

#include <cstdint>

namespace vramscope::text {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kCut = " ... ";

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 1;
  bool valid = false;
};

// Well-formed UTF-8 as in table 3-7 of the Unicode Standard: no overlong forms, no surrogates.
CodePoint Decode(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {first, 1, true};
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  uint32_t value = first & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if (!IsContinuation(text[i])) return {};
    value = value << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  }
  const bool overlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  if (overlong || (value >= 0xD800 && value < 0xE000) || value > 0x10FFFF) return {};
  return {value, bytes, true};
}

// Bidirectional controls and line separators: they make one text look like another.
bool MisleadsTheEye(uint32_t c) {
  return (c >= 0x200E && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) ||
         c == 0x061C || c == 0xFEFF;
}

void AppendCleaned(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const CodePoint c = Decode(text);
    if (!c.valid) {
      out += kReplacement;
    } else if (c.value == '\t' || c.value == '\n' || c.value == '\r') {
      out += ' ';
    } else if (c.value < 0x20 || (c.value >= 0x7F && c.value < 0xA0) || MisleadsTheEye(c.value)) {
      out += '?';
    } else {
      out += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes);
  }
}

// Ends that begin and end between characters.
std::string_view Head(std::string_view text, size_t bytes) {
  while (bytes > 0 && IsContinuation(text[bytes])) --bytes;
  return text.substr(0, bytes);
}
std::string_view Tail(std::string_view text, size_t bytes) {
  while (bytes > 0 && IsContinuation(text[text.size() - bytes])) --bytes;
  return text.substr(text.size() - bytes);
}

std::string Shortened(std::string_view clean) {
  if (clean.size() <= kLongest) return std::string(clean);
  const size_t end = (kLongest - kCut.size()) / 2;
  return std::string(Head(clean, end)).append(kCut).append(Tail(clean, end));
}

}  // namespace

std::string Clean(std::string_view name) {
  std::string clean;
  if (name.size() <= 4 * kLongest) {
    AppendCleaned(clean, name);
    return Shortened(clean);
  }
  // Of a megabyte only the ends are looked at: more of each than can stay.
  AppendCleaned(clean, Head(name, kLongest));
  AppendCleaned(clean, Tail(name, kLongest));
  return Shortened(clean);
}

std::string Xml(std::string_view name) {
  std::string xml;
  for (const char c : Clean(name)) {
    if (c == '<') {
      xml += "&lt;";
    } else if (c == '>') {
      xml += "&gt;";
    } else if (c == '&') {
      xml += "&amp;";
    } else if (c == '"') {
      xml += "&quot;";
    } else if (c == '\'') {
      xml += "&apos;";
    } else {
      xml += c;
    }
  }
  return xml;
}

std::string Markdown(std::string_view name) {
  constexpr std::string_view kMarkup = "|`*_[]\\~!";
  std::string markdown;
  for (const char c : Clean(name)) {
    if (c == '<') {
      markdown += "&lt;";
    } else if (c == '&') {
      markdown += "&amp;";
    } else if (c == '@') {
      markdown += "&#64;";  // a mention
    } else if (c == '#') {
      markdown += "&#35;";  // another issue, a heading
    } else if (c == ':') {
      markdown += "&#58;";  // a link
    } else {
      if (kMarkup.find(c) != std::string_view::npos) markdown += '\\';
      markdown += c;
    }
  }
  return markdown;
}

std::string Csv(std::string_view name) {
  std::string clean = Clean(name);
  if (!clean.empty() && std::string_view("=+-@").find(clean[0]) != std::string_view::npos)
    clean.insert(0, "'");
  if (clean.find_first_of(",\"") == std::string::npos) return clean;
  std::string quoted = "\"";
  for (const char c : clean) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string Json(std::string_view name) {
  std::string json = "\"";
  for (const char c : Clean(name)) {
    if (c == '<') {
      json += "\\u003c";
    } else if (c == '>') {
      json += "\\u003e";
    } else if (c == '&') {
      json += "\\u0026";
    } else {
      if (c == '"' || c == '\\') json += '\\';
      json += c;
    }
  }
  return json + '"';
}

}  // namespace vramscope::text
