// SPDX-License-Identifier: Apache-2.0
// Formats the places whose memory grows as JSON (docs/json.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "profiler/growth/growth.h"

namespace vramscope::growth {

[[nodiscard]] nlohmann::ordered_json ToJson(const std::vector<Growth>& places);

}  // namespace vramscope::growth
