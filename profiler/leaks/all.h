// SPDX-License-Identifier: Apache-2.0
// Finds memory growth on each device of each process that matches a request. All devices are examined,
// because any rank of a job may leak, not only the rank with the highest peak.
#pragma once

#include <string>
#include <vector>

#include "profiler/leaks/growth.h"
#include "profiler/report/device_choice.h"

namespace vramscope::leaks {

struct DeviceGrowth {
  report::Spoken spoken;
  Result<Answer> growth;  // an error states why the device could not be judged
};

// Returns the devices sorted by growth, most first. Devices that could not be judged come last. If some
// processes have steps, processes without steps are left out. Fails if the requested device does not exist,
// or if nothing was allocated.
[[nodiscard]] Result<std::vector<DeviceGrowth>> FindGrowthOfAll(const classify::Analysis& analysis,
                                                                const report::Request& request);

// Returns the growth per step, summed over all code locations.
[[nodiscard]] uint64_t BytesPerStep(const Answer& answer);

// Returns one JSON document. The top-level keys describe the first judged device; the key `devices` lists all
// devices.
[[nodiscard]] std::string ToJson(const std::vector<DeviceGrowth>& all);

}  // namespace vramscope::leaks
