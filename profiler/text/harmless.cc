// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/harmless.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "profiler/text/number.h"

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

struct CodePoints {
  uint32_t first, last;
};

// General category Cf, and the separators of lines and paragraphs: Unicode 15.0, DerivedGeneralCategory.txt.
constexpr CodePoints kFormat[] = {
    {0x00AD, 0x00AD},   {0x0600, 0x0605},   {0x061C, 0x061C},   {0x06DD, 0x06DD},   {0x070F, 0x070F},
    {0x0890, 0x0891},   {0x08E2, 0x08E2},   {0x180E, 0x180E},   {0x200B, 0x200F},   {0x2028, 0x202E},
    {0x2060, 0x206F},   {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
    {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE007F}};

// True if it is invisible: it makes a terminal do something, or makes one text look like another.
bool IsInvisible(uint32_t c) {
  if (c < 0xAD) return c < 0x20 || (c >= 0x7F && c < 0xA0);
  return std::any_of(std::begin(kFormat), std::end(kFormat),
                     [c](const CodePoints& range) { return c >= range.first && c <= range.last; });
}

// Length of a color sequence at the start of `text`: ESC [ numbers m. 0: there is none.
size_t ColorLength(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// Appends `text`. If a character must be replaced, `instead(out, code point, rest of the text)` appends the
// replacement. It returns the number of bytes replaced, or 0 for the code point alone.
template <typename Instead>
void AppendVisible(std::string& out, std::string_view text, const Instead& instead) {
  while (!text.empty()) {
    const CodePoint c = Decode(text);
    if (c.valid && !IsInvisible(c.value)) {
      out += text.substr(0, c.bytes);
      text.remove_prefix(c.bytes);
    } else if (!c.valid) {
      out += kReplacement;
      text.remove_prefix(1);
    } else {
      text.remove_prefix(std::max(instead(out, c.value, text), c.bytes));
    }
  }
}

size_t OnOneLine(std::string& out, uint32_t c, std::string_view /*rest*/) {
  out += c == '\t' || c == '\n' || c == '\r' ? ' ' : '?';
  return 0;
}

void AppendCleaned(std::string& out, std::string_view text) { AppendVisible(out, text, OnOneLine); }

// The start or end of a text, cut between characters.
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

std::string OneLine(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  AppendCleaned(line, text);
  return line;
}

std::string ForTerminal(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  AppendVisible(shown, text, [](std::string& out, uint32_t c, std::string_view rest) {
    const size_t color = ColorLength(rest);
    if (color != 0)
      out += rest.substr(0, color);
    else
      out += c == '\n' || c == '\t' ? static_cast<char>(c) : '?';
    return color;
  });
  return shown;
}

std::string EscapedJson(std::string_view document) {
  std::string escaped;
  escaped.reserve(document.size());
  AppendVisible(escaped, document, [](std::string& out, uint32_t c, std::string_view /*rest*/) {
    if (c == '\n') {
      out += '\n';  // between values: texts contain none
      return size_t{0};
    }
    const auto put = [&out](uint32_t unit) {
      out += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) out += "0123456789abcdef"[unit >> shift & 0xF];
    };
    if (c >= 0x10000) put(0xD800 + ((c - 0x10000) >> 10));
    put(c >= 0x10000 ? 0xDC00 + ((c - 0x10000) & 0x3FF) : c);
    return size_t{0};
  });
  return escaped;
}

std::string Clean(std::string_view name) {
  std::string clean;
  if (name.size() <= 4 * kLongest) {
    AppendCleaned(clean, name);
    return Shortened(clean);
  }
  // Cleans only the ends of a long text, but more of each end than can stay.
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
  const bool formula = !clean.empty() && std::string_view("=+-@").find(clean[0]) != std::string_view::npos;
  if (formula && !ParseNumber<double>(clean)) clean.insert(0, "'");
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
