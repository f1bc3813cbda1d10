// SPDX-License-Identifier: Apache-2.0
// The HTML frame of every page: policy, embedded documents, style, and script. The policy allows only the
// page's own style and script.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "profiler/model/framework.h"

namespace vramscope::html {

struct Document {
  std::string title;
  std::string version;   // of vramscope
  std::string noscript;  // shown without scripts; no markup
  std::string_view script;
  std::string_view script_hash;
};

// `report` and `picture` are embedded as elements with these IDs.
[[nodiscard]] std::string MakeDocument(const Document& document, const nlohmann::ordered_json& report,
                                       const nlohmann::ordered_json& picture);

// "#1a2b3c"
[[nodiscard]] std::string HexColor(uint32_t rgb);
// Keys, names and colors of categories.
[[nodiscard]] nlohmann::ordered_json CategoryLegend(const model::Framework& framework);

}  // namespace vramscope::html
