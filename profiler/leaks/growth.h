// SPDX-License-Identifier: Apache-2.0
// Computes the answer of `vramscope leaks`: growing places on one device of one process, and growing host
// memory.
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

// Growth of the resident memory of one process, or of its descendants (workers) together.
struct HostGrowth {
  uint32_t pid = 0;  // 0 = all workers
  uint32_t processes = 1;
  report::Growth growth;
};

struct Answer : growth::Found {
  std::string device;
  uint32_t pid = 0;
  int64_t bytes_per_step = 0;   // slope of `ends` over the judged steps (least squares)
  std::vector<StepBytes> ends;  // allocated bytes at the end of each finished step
  std::vector<HostGrowth> host;
};

// Finds growth on the requested device. Fails if there is no such device, or if it has fewer than
// growth::kFewestSteps finished steps.
[[nodiscard]] Result<Answer> FindGrowth(const classify::Analysis& analysis, const report::Request& request);

// Returns the answer as one JSON document (docs/json.md).
[[nodiscard]] std::string ToJson(const Answer& answer);

}  // namespace vramscope::leaks
