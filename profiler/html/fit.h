// SPDX-License-Identifier: Apache-2.0
// A JSON document made small enough for a page that people send each other: long texts and long lists are
// cut, numbers never change.
//
// Why on the finished document and not in the answer: it has a dozen lists of texts of the recorded program,
// and a rule for each would miss the next one. What every name is allowed shrinks until the whole fits, so
// one name of a megabyte costs only itself.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace vramscope::html {

// At most `most` bytes of `text`, which is UTF-8, cut between two characters and then ended by U+2026.
[[nodiscard]] std::string CutText(std::string_view text, size_t most);

// Cuts texts and lists until the document takes at most `budget` bytes, as far as its objects allow. Of
// `steps`, the first, the last and those with the highest peaks stay; of other lists, whose order says what
// matters, the first. Returns how many entries each list of the document's top lost: {"steps": 9000}.
nlohmann::ordered_json Fit(nlohmann::ordered_json& document, size_t budget);

// Bytes of its text.
[[nodiscard]] size_t SizeOf(const nlohmann::ordered_json& document);

// As the text of a <script type="application/json">: nothing in it can end the element.
[[nodiscard]] std::string ScriptSafe(const nlohmann::ordered_json& document);
// As text between tags or in a quoted attribute.
[[nodiscard]] std::string EscapeText(std::string_view text);

}  // namespace vramscope::html
