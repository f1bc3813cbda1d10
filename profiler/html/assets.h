// SPDX-License-Identifier: Apache-2.0
// The style sheet and scripts (assets/) of the HTML report. Each has a hash ("sha256-...") for the page's
// Content-Security-Policy.
#pragma once

#include <string_view>

namespace vramscope::html {

extern const std::string_view kStyle;
extern const std::string_view kStyleHash;
extern const std::string_view kScript;
extern const std::string_view kScriptHash;
extern const std::string_view kDiffScript;
extern const std::string_view kDiffScriptHash;
extern const std::string_view kFleetScript;
extern const std::string_view kFleetScriptHash;

}  // namespace vramscope::html
