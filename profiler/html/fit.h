// SPDX-License-Identifier: Apache-2.0
// Shrinks a JSON document to the size of a page that can be mailed: cuts long texts and long lists. Numbers
// never change.
//
// Why this works on the finished document and not on the answer: the answer has a dozen lists of texts from
// the recorded program, and separate rules would miss the next list. The limit for texts and lists shrinks
// until everything fits. A name of one megabyte is cut at the first limit and does not shorten the others.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace vramscope::html {

// `text` (UTF-8) if it has at most `most` bytes. Otherwise the characters that fit into `most` bytes, plus
// U+2026.
[[nodiscard]] std::string CutText(std::string_view text, size_t most);

// Cuts texts and lists until the document has at most `budget` bytes, or nothing more can be cut. In `steps`,
// the first ones, the last ones and those with the highest peaks stay. Other lists are sorted by importance,
// so their first entries stay. Returns the number of removed entries for each top-level list: {"steps":
// 9000}.
nlohmann::ordered_json Fit(nlohmann::ordered_json& document, size_t budget);

// The size of the document as text, in bytes.
[[nodiscard]] size_t SizeOf(const nlohmann::ordered_json& document);

// The document as text of a <script type="application/json">: nothing in it can end the element.
[[nodiscard]] std::string ScriptSafe(const nlohmann::ordered_json& document);
// `text` on one line, escaped for use between tags or in a quoted attribute.
[[nodiscard]] std::string EscapeText(std::string_view text);

}  // namespace vramscope::html
