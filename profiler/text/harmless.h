// SPDX-License-Identifier: Apache-2.0
// Sanitizes foreign names for the place where they are written.
//
// Somebody else chooses the name of a module, a process or a scope. A name may contain terminal commands,
// HTML, a quote, a spreadsheet formula, invalid UTF-8, or a megabyte of text.
//
//   as recorded ──Clean──► one line of UTF-8, at most kLongest bytes ──Xml / Markdown / Csv / Json──► file
//   as recorded ──OneLine──► cells and sentences ──ForTerminal──► the terminal, which sees nothing else
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vramscope::text {

inline constexpr size_t kLongest = 1024;  // bytes of a cleaned name

// One line of valid UTF-8 without control characters (C0, DEL, C1). Also without Unicode's invisible format
// characters (direction, joiners, tags, soft hyphens). Tabs and newlines become spaces, the others '?'.
// Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string OneLine(std::string_view text);
// Like OneLine. A text longer than kLongest keeps both ends with " ... " between. O(min(length, kLongest)).
[[nodiscard]] std::string Clean(std::string_view name);
// Several lines for a terminal: newlines, tabs and our own colors (SGR sequences) stay.
[[nodiscard]] std::string ForTerminal(std::string_view text);
// The JSON document with invisible characters as \u escapes. `document` must be valid JSON.
[[nodiscard]] std::string EscapedJson(std::string_view document);

// For text between tags and inside double quotes.
[[nodiscard]] std::string Xml(std::string_view name);
// For a paragraph or table cell: no markup, links or notifications on a code host.
[[nodiscard]] std::string Markdown(std::string_view name);
// A field of RFC 4180, quoted if necessary. A text that a spreadsheet would take for a formula gets a ' in
// front: https://owasp.org/www-community/attacks/CSV_Injection.
[[nodiscard]] std::string Csv(std::string_view name);
// A JSON string with its quotes (RFC 8259), in UTF-8. < > & are escaped for embedding in a page.
[[nodiscard]] std::string Json(std::string_view name);

}  // namespace vramscope::text
