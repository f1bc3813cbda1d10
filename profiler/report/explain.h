// SPDX-License-Identifier: Apache-2.0
// Explains why nvidia-smi shows more memory than PyTorch's tensors use. Lists the parts of the difference on
// one device at one moment.
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
  Moment moment;  // `driver` is set; `asked` is the requested moment ("peak", "step:3")
  // The parts of the difference, largest first, `unattributed` last.
  std::vector<std::pair<DeviceRow, int64_t>> between;
  int64_t difference_bytes = 0;  // sum of `between`
  // The text of CachingOff() if the caching allocator was off and no block was recorded; otherwise "". All
  // memory of PyTorch is then counted as tensors.
  std::string caching_off;
};

// Returns why the run cannot be explained, and what to record instead: the run used no GPU, or has no driver
// calls. Returns "" if the run can be explained.
[[nodiscard]] std::string WhyNotExplained(const model::Run& run);

// Explains the first moment of the request; without moments, the peak. Fails for the same reasons as
// BuildAnswer, or with the text of WhyNotExplained.
[[nodiscard]] Result<Explanation> Explain(const classify::Analysis& analysis, const Request& request);

}  // namespace vramscope::report
