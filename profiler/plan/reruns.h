// SPDX-License-Identifier: Apache-2.0
// Changes that only a re-run of the recorded program answers, as a search asks for them.
//
// Why an interface: a re-run needs PyTorch and takes seconds. The command knows whether PyTorch is at hand,
// and which variants the trace has already; the search does not.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/whatif/answer/predict.h"

namespace vramscope::plan {

class Reruns {
 public:
  virtual ~Reruns() = default;
  // Samples in the recorded batch.
  [[nodiscard]] virtual Result<uint64_t> BatchSize() = 0;
  // These will be asked for: whoever runs programs can run them in one go.
  virtual void Prepare(std::span<const std::vector<whatif::Asked>> wanted) { (void)wanted; }
  // The peaks of the program under these changes, of any kind: re-run where one of them needs it, transformed
  // for the others. An error is PyTorch's own, or names what the program did not note.
  [[nodiscard]] virtual Result<whatif::Prediction> Predict(std::span<const whatif::Asked> changes) = 0;
};

}  // namespace vramscope::plan
