// SPDX-License-Identifier: Apache-2.0
// Why nvidia-smi shows more than PyTorch: the difference between a device's used memory and the tensors at a
// moment.
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
  // The parts of the difference between the device's used memory and the tensors. Largest first,
  // `unattributed` last.
  std::vector<std::pair<DeviceRow, int64_t>> between;
  int64_t difference_bytes = 0;  // the sum of these parts
  // The text of CachingOff(), if no block was recorded because the caching allocator was off. All memory that
  // PyTorch took is then tensors.
  std::string caching_off;
};

// If the run used no GPU or has no driver calls: the reason, and what to record instead. Otherwise "": the run
// can be explained.
[[nodiscard]] std::string WhyNotExplained(const model::Run& run);

// Explains the first moment of the request, or the peak. Fails as BuildAnswer does, or with the sentence of
// WhyNotExplained.
[[nodiscard]] Result<Explanation> Explain(const classify::Analysis& analysis, const Request& request);

}  // namespace vramscope::report
