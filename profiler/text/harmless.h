// SPDX-License-Identifier: Apache-2.0
// Sanitizes recorded names before they are written to a terminal or a file.
//
// The recorded program chooses the names of modules, processes and scopes. A name may contain terminal
// commands, HTML, a quote, a spreadsheet formula, invalid UTF-8, or a megabyte of text.
//
//   name ──Clean──► one line of UTF-8, at most kLongest bytes ──Xml / Markdown / Csv / Json──► file
//   name ──OneLine──► cells and sentences ──ForTerminal──► terminal
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vramscope::text {

inline constexpr size_t kLongest = 1024;  // bytes of a cleaned name

// Returns `text` as one line of valid UTF-8. Tabs and newlines become spaces. Other control characters (C0,
// DEL, C1) and Unicode's invisible format characters (direction, joiners, tags, soft hyphens) become '?'.
// Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string OneLine(std::string_view text);
// Like OneLine, but cuts the middle out of a text longer than kLongest and writes " ... " instead.
// O(min(length, kLongest)).
[[nodiscard]] std::string Clean(std::string_view name);
// Like OneLine, for several lines on a terminal: keeps newlines, tabs and color sequences (SGR).
[[nodiscard]] std::string ForTerminal(std::string_view text);
// Replaces invisible characters in a JSON document with \u escapes. `document` must be valid JSON.
[[nodiscard]] std::string EscapedJson(std::string_view document);

// Escapes a name for XML or HTML: text between tags, or an attribute in double quotes.
[[nodiscard]] std::string Xml(std::string_view name);
// Escapes a name for a paragraph or table cell of Markdown. The result makes no markup and no links, and
// notifies nobody on a code host.
[[nodiscard]] std::string Markdown(std::string_view name);
// Returns a field of a CSV file (RFC 4180), quoted if necessary. If a spreadsheet would read the text as a
// formula, the result begins with ': https://owasp.org/www-community/attacks/CSV_Injection.
[[nodiscard]] std::string Csv(std::string_view name);
// Returns a JSON string with its quotes (RFC 8259), in UTF-8. Escapes < > & because the JSON may be part of
// an HTML page.
[[nodiscard]] std::string Json(std::string_view name);

}  // namespace vramscope::text
