// SPDX-License-Identifier: Apache-2.0
// Names of foreign programs made harmless for the place that they are written to.
//
// Why one room: a module, a process or a scope is called what somebody else chose. It may carry terminal
// commands, HTML, a quote that ends our string, a formula for a spreadsheet, bytes that are no UTF-8, or a
// megabyte of text; and every file that we write would have to think of all of them again.
//
//   as recorded ──Clean──► one line of UTF-8, at most kLongest bytes ──Xml / Markdown / Csv / Json──► file
//   as recorded ──OneLine──► cells and sentences ──ForTerminal──► the terminal, which sees nothing else
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace vramscope::text {

inline constexpr size_t kLongest = 1024;  // bytes of a cleaned name

// One line of valid UTF-8 without control characters (C0, DEL, C1) and without what has no look of its own
// and changes that of its neighbours (Unicode's format characters: direction, joiners, tags, soft hyphens):
// tabs and newlines become spaces, the others '?', bytes that are no UTF-8 U+FFFD.
[[nodiscard]] std::string OneLine(std::string_view text);
// The same; what is longer than kLongest keeps both ends with " ... " between. O(min(length, kLongest)).
[[nodiscard]] std::string Clean(std::string_view name);
// Text of several lines for a terminal: newlines, tabs and the colours that we write (SGR sequences) stay.
[[nodiscard]] std::string ForTerminal(std::string_view text);
// A JSON document in which the same characters stand as \u escapes, so that it says the same and may be
// printed. It must be valid.
[[nodiscard]] std::string EscapedJson(std::string_view document);

// The following clean by themselves.

// Between tags and inside double quotes.
[[nodiscard]] std::string Xml(std::string_view name);
// In a paragraph or the cell of a table: no markup, no link, and on a code host nobody is notified.
[[nodiscard]] std::string Markdown(std::string_view name);
// A field of RFC 4180, quoted where it must be. A text that a spreadsheet would take for a formula (it begins
// with = + - or @ and is no number) gets a ' in front: https://owasp.org/www-community/attacks/CSV_Injection.
[[nodiscard]] std::string Csv(std::string_view name);
// A JSON string with its quotes (RFC 8259), in ASCII apart from letters; < > & are escaped too, so that the
// document may stand inside a page.
[[nodiscard]] std::string Json(std::string_view name);

}  // namespace vramscope::text
