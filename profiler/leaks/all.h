// SPDX-License-Identifier: Apache-2.0
// Finds growth on each device of each process that matches a request. Any rank of a job may leak, not only
// the one with the highest peak.
#pragma once

#include <string>
#include <vector>

#include "profiler/leaks/growth.h"
#include "profiler/report/device_choice.h"

namespace vramscope::leaks {

struct DeviceGrowth {
  report::Spoken spoken;
  Result<Answer> growth;  // error: why the device could not be judged
};

// Sorted by growth, most first; devices that could not be judged last. A process without steps is left out if
// another has steps. Fails if the request names a device that does not exist, or if nothing was allocated.
[[nodiscard]] Result<std::vector<DeviceGrowth>> FindGrowthOfAll(const classify::Analysis& analysis,
                                                                const report::Request& request);

// Summed over all places.
[[nodiscard]] uint64_t BytesPerStep(const Answer& answer);

// One JSON document: the keys of the first judged device, and all devices in `devices`.
[[nodiscard]] std::string ToJson(const std::vector<DeviceGrowth>& all);

}  // namespace vramscope::leaks
