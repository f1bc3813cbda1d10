// SPDX-License-Identifier: Apache-2.0
// The answers of `vramscope frag` and `vramscope oom` as JSON (docs/json.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "profiler/fragmentation/answer.h"

namespace vramscope::fragmentation {

[[nodiscard]] std::string ToJson(const Subject& subject, const Answer& answer, int indent = 2);

// Parts that both answers contain.
[[nodiscard]] nlohmann::ordered_json CausesJson(const Decomposition& causes);
[[nodiscard]] nlohmann::ordered_json MomentJson(const Subject& subject, const MomentAnswer& moment);
[[nodiscard]] nlohmann::ordered_json SegmentsJson(const Subject& subject,
                                                  const std::vector<SegmentAnswer>& segments);

}  // namespace vramscope::fragmentation
