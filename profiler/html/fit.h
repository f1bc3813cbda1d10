// SPDX-License-Identifier: Apache-2.0
// Shrinks a JSON document for a page that people send each other: long texts and long lists are cut, numbers
// never change.
//
// Why on the finished document and not in the answer: the answer has a dozen lists of texts from the recorded
// program, and a rule for each would miss the next one. The length allowed for each name shrinks until
// everything fits, so a name of a megabyte only costs itself.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace vramscope::html {

// At most `most` bytes of `text` (UTF-8), cut between two characters and then ended by U+2026.
[[nodiscard]] std::string CutText(std::string_view text, size_t most);

// Cuts texts and lists until the document takes at most `budget` bytes, as far as its objects allow. Of
// `steps`, the first, the last and those with the highest peaks stay. Other lists are sorted by importance,
// so their first entries stay. Returns the number of removed entries for each top-level list: {"steps":
// 9000}.
nlohmann::ordered_json Fit(nlohmann::ordered_json& document, size_t budget);

// Bytes of the document as text.
[[nodiscard]] size_t SizeOf(const nlohmann::ordered_json& document);

// The document as text of a <script type="application/json">: nothing in it can end the element.
[[nodiscard]] std::string ScriptSafe(const nlohmann::ordered_json& document);
// Escaped for text between tags, or for a quoted attribute.
[[nodiscard]] std::string EscapeText(std::string_view text);

}  // namespace vramscope::html
