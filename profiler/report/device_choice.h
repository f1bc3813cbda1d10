// SPDX-License-Identifier: Apache-2.0
// Which of the recorded devices a report is about.
#pragma once

#include <vector>

#include "profiler/report/request.h"
#include "profiler/timeline/curve.h"

namespace vramscope::report {

// The device of `curves` (by DeviceIndex) that the request means: with the largest peak, CUDA and the like
// before CPU, the CPU of a process that trains before that of one that does not, unless it names one. kNone
// when nothing was allocated and nothing was named. Fails with a sentence that lists the devices when the
// named one does not exist.
[[nodiscard]] Result<model::DeviceIndex> ChooseDevice(const model::Run& run,
                                                      const std::vector<timeline::DeviceCurve>& curves,
                                                      const Request& request);

}  // namespace vramscope::report
