// SPDX-License-Identifier: Apache-2.0
// Explains why nvidia-smi shows more than PyTorch: a device's used memory minus the tensors at a moment.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "profiler/classify/analysis.h"
#include "profiler/report/answer.h"
#include "profiler/report/request.h"

namespace vramscope::report {

struct Explanation {
  std::string device;  // "cuda:0"
  uint32_t pid = 0;
  Moment moment;  // has `driver`; `asked` is the requested moment ("peak", "step:3")
  // The parts of the difference, largest first, `unattributed` last.
  std::vector<std::pair<DeviceRow, int64_t>> between;
  int64_t difference_bytes = 0;  // the sum of these parts
  // CachingOff(), if the caching allocator was off and no block was recorded. All memory of PyTorch then
  // counts as tensors.
  std::string caching_off;
};

// The reason and what to record instead, if the run used no GPU or has no driver calls. "" if the run can be
// explained.
[[nodiscard]] std::string WhyNotExplained(const model::Run& run);

// Explains the request's first moment, or the peak. Fails as BuildAnswer does, or with WhyNotExplained.
[[nodiscard]] Result<Explanation> Explain(const classify::Analysis& analysis, const Request& request);

}  // namespace vramscope::report
