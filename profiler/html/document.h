// SPDX-License-Identifier: Apache-2.0
// The frame of every page: a policy that only allows the page's own script, the embedded documents, the style
// and the script. Pages differ in their documents and their script.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "profiler/model/framework.h"

namespace vramscope::html {

struct Document {
  std::string title;     // any text
  std::string version;   // of vramscope
  std::string noscript;  // one sentence for browsers that run no script; no markup
  std::string_view script;
  std::string_view script_hash;
};

// `report` and `picture` are embedded under these names.
[[nodiscard]] std::string MakeDocument(const Document& document, const nlohmann::ordered_json& report,
                                       const nlohmann::ordered_json& picture);

// "#1a2b3c"
[[nodiscard]] std::string HexColor(uint32_t rgb);
// Keys, names and colors of all categories.
[[nodiscard]] nlohmann::ordered_json CategoryLegend(const model::Framework& framework);

}  // namespace vramscope::html
