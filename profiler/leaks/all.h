// SPDX-License-Identifier: Apache-2.0
// What grows on every device of every process that a request means.
//
// Why not on the fullest one alone: of the ranks of a job one may leak, and it need not be the one with the
// highest peak.
#pragma once

#include <string>
#include <vector>

#include "profiler/leaks/growth.h"
#include "profiler/report/device_choice.h"

namespace vramscope::leaks {

struct DeviceGrowth {
  report::Spoken spoken;
  Result<Answer> growth;  // an error says why it could not be judged
};

// In order of growth, the most first; those that could not be judged last. A process without any step is left
// out where another one has steps. Fails when the request names a device that does not exist, and when
// nothing was allocated.
[[nodiscard]] Result<std::vector<DeviceGrowth>> FindGrowthOfAll(const classify::Analysis& analysis,
                                                                const report::Request& request);

// Bytes per step by which a device grows, over all places.
[[nodiscard]] uint64_t BytesPerStep(const Answer& answer);

// One JSON document: the keys of the first that was judged, and all in `devices`.
[[nodiscard]] std::string ToJson(const std::vector<DeviceGrowth>& all);

}  // namespace vramscope::leaks
