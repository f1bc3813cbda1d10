// SPDX-License-Identifier: Apache-2.0
// Shrinks a JSON document so that an HTML page with it is small enough for an e-mail. Long texts and long
// lists are cut; numbers never change. The maximum length of texts and lists is halved until the document
// fits.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace vramscope::html {

// Returns `text` (UTF-8), cut to at most `most` bytes. A text that was cut ends with an additional U+2026
// (…).
[[nodiscard]] std::string CutText(std::string_view text, size_t most);

// Cuts texts and lists until the document has at most `budget` bytes, or until nothing more can be cut. The
// list "steps" keeps the first step, the last step and the steps with the highest peaks. Other lists keep
// their first entries. Returns the number of removed entries of each top-level list: {"steps": 9000}.
nlohmann::ordered_json Fit(nlohmann::ordered_json& document, size_t budget);

// Returns the size of the document's JSON text in bytes.
[[nodiscard]] size_t SizeOf(const nlohmann::ordered_json& document);

// Returns the document's JSON text for a <script type="application/json">. Each '<' is escaped, so that no
// text can end the element.
[[nodiscard]] std::string ScriptSafe(const nlohmann::ordered_json& document);
// Returns `text` on one line, escaped for HTML text or for a quoted attribute.
[[nodiscard]] std::string EscapeText(std::string_view text);

}  // namespace vramscope::html
