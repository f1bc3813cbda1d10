// SPDX-License-Identifier: Apache-2.0
// The answer of `vramscope leaks`: what grows on one device of one process (profiler/growth defines the
// signs), and host memory that grows as well.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/growth/growth.h"
#include "profiler/report/host_memory.h"
#include "profiler/report/request.h"

namespace vramscope::leaks {

using growth::Growth;
using growth::Keeper;
using growth::StepBytes;

// Growth, from step to step, of the resident memory of one process or of all workers together.
struct HostGrowth {
  uint32_t pid = 0;  // 0 = all workers
  uint32_t processes = 1;
  report::Growth growth;
};

struct Answer : growth::Found {
  std::string device;
  uint32_t pid = 0;
  int64_t bytes_per_step = 0;   // least squares slope of `ends`, over the judged steps
  std::vector<StepBytes> ends;  // allocated bytes at the ends of all finished steps
  std::vector<HostGrowth> host;
};

// For the device that the request names or implies. Fails with a sentence if there is none, or if the run has
// fewer than growth::kFewestSteps finished steps.
[[nodiscard]] Result<Answer> FindGrowth(const classify::Analysis& analysis, const report::Request& request);

// One JSON document; docs/json.md describes it.
[[nodiscard]] std::string ToJson(const Answer& answer);

}  // namespace vramscope::leaks
