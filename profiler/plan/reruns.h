// SPDX-License-Identifier: Apache-2.0
// The interface through which a search asks for re-runs of the recorded program.
//
// Why an interface: a re-run needs PyTorch and takes seconds. The command knows whether PyTorch is available
// and which variants the trace already has; the search does not.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/whatif/answer/predict.h"

namespace vramscope::plan {

class Reruns {
 public:
  virtual ~Reruns() = default;
  // Number of samples in the recorded batch.
  [[nodiscard]] virtual Result<uint64_t> BatchSize() = 0;
  // Announces changes that will be asked for, so that they can be run together.
  virtual void Prepare(std::span<const std::vector<whatif::Asked>> wanted) { (void)wanted; }
  // Returns the program's peaks under these changes; every kind of change is allowed. If a change needs a
  // re-run, the program is re-run with it; the other changes are transformations of the recorded step. An
  // error is PyTorch's own, or names what is missing in the recorded program.
  [[nodiscard]] virtual Result<whatif::Prediction> Predict(std::span<const whatif::Asked> changes) = 0;
};

}  // namespace vramscope::plan
