// SPDX-License-Identifier: Apache-2.0
// Finds what grows on each device of each process that matches a request.
//
// Why all devices and not only the one with the highest peak: the rank that leaks may be any one of the job.
#pragma once

#include <string>
#include <vector>

#include "profiler/leaks/growth.h"
#include "profiler/report/device_choice.h"

namespace vramscope::leaks {

struct DeviceGrowth {
  report::Spoken spoken;
  Result<Answer> growth;  // the error explains why the device could not be judged
};

// Sorted by growth, most first; those that could not be judged last. A process without steps is left out if
// another process has steps. Fails if the request names a device that does not exist, or if nothing was
// allocated.
[[nodiscard]] Result<std::vector<DeviceGrowth>> FindGrowthOfAll(const classify::Analysis& analysis,
                                                                const report::Request& request);

// Bytes per step by which a device grows, summed over all places.
[[nodiscard]] uint64_t BytesPerStep(const Answer& answer);

// One JSON document: the keys of the first judged device, and all devices in `devices`.
[[nodiscard]] std::string ToJson(const std::vector<DeviceGrowth>& all);

}  // namespace vramscope::leaks
