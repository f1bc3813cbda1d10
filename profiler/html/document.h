// SPDX-License-Identifier: Apache-2.0
// Builds the HTML document of every page: content security policy, style, script, and embedded JSON. The
// policy allows only the page's own style and script.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "profiler/model/framework.h"

namespace vramscope::html {

struct Document {
  std::string title;
  std::string version;   // version of vramscope
  std::string noscript;  // plain text that is shown if scripts are disabled
  std::string_view script;
  std::string_view script_hash;
};

// Returns the HTML text. `report` and `picture` are embedded in elements with the ids "report" and "picture".
[[nodiscard]] std::string MakeDocument(const Document& document, const nlohmann::ordered_json& report,
                                       const nlohmann::ordered_json& picture);

// "#1a2b3c"
[[nodiscard]] std::string HexColor(uint32_t rgb);
// Returns the keys, names and colors of the categories.
[[nodiscard]] nlohmann::ordered_json CategoryLegend(const model::Framework& framework);

}  // namespace vramscope::html
