// SPDX-License-Identifier: Apache-2.0
// Shrinks a JSON document to the size of a page that can be mailed: cuts long texts and long lists. Numbers
// never change. The limit for texts and lists shrinks until the document fits.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace vramscope::html {

// `text` (UTF-8) cut to at most `most` bytes, plus U+2026 if it was cut.
[[nodiscard]] std::string CutText(std::string_view text, size_t most);

// Cuts texts and lists until the document has at most `budget` bytes, or nothing more can be cut. `steps`
// keeps the first step, the last one and those with the highest peaks. Other lists keep their first entries.
// Returns the number of removed entries of each top-level list: {"steps": 9000}.
nlohmann::ordered_json Fit(nlohmann::ordered_json& document, size_t budget);

// The size as text, in bytes.
[[nodiscard]] size_t SizeOf(const nlohmann::ordered_json& document);

// The document as text for a <script type="application/json">: nothing in it can end the element.
[[nodiscard]] std::string ScriptSafe(const nlohmann::ordered_json& document);
// `text` on one line, escaped for HTML text or a quoted attribute.
[[nodiscard]] std::string EscapeText(std::string_view text);

}  // namespace vramscope::html
