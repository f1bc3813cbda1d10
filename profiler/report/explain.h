// SPDX-License-Identifier: Apache-2.0
// Why nvidia-smi shows more than PyTorch: what lies between a device's used memory and the tensors at a
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
  Moment moment;  // with `driver`; `asked` is the moment's word ("peak", "step:3")
  // What makes up the difference between the device's used memory and the tensors, largest first,
  // `unattributed` last.
  std::vector<std::pair<DeviceRow, int64_t>> between;
  int64_t difference_bytes = 0;  // the sum of these
  // CachingOff(), when no block was recorded for that reason: then all that PyTorch took are its tensors.
  std::string caching_off;
};

// What to record instead, as a sentence, when the run used no GPU or has no calls of its driver; "" when it
// can be explained.
[[nodiscard]] std::string WhyNotExplained(const model::Run& run);

// At the first moment of the request, or the peak. Fails as BuildAnswer does, and with the sentence of
// WhyNotExplained.
[[nodiscard]] Result<Explanation> Explain(const classify::Analysis& analysis, const Request& request);

}  // namespace vramscope::report
