// SPDX-License-Identifier: Apache-2.0
// The places in the program whose memory grows (growth.h), as JSON. docs/json.md describes it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "profiler/growth/growth.h"

namespace vramscope::growth {

[[nodiscard]] nlohmann::ordered_json ToJson(const std::vector<Growth>& places);

}  // namespace vramscope::growth
