// SPDX-License-Identifier: Apache-2.0
// The interface through which the search for plans requests re-runs of the recorded program.
//
// The command line implements it. It finds out whether PyTorch is available, and which re-runs are kept with
// the trace.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/whatif/answer/predict.h"

namespace vramscope::plan {

class Reruns {
 public:
  virtual ~Reruns() = default;
  // Returns the batch size of the recorded program.
  [[nodiscard]] virtual Result<uint64_t> BatchSize() = 0;
  // Announces combinations of changes that Predict() will be called for. Their re-runs can then run together.
  virtual void Prepare(std::span<const std::vector<whatif::Asked>> wanted) { (void)wanted; }
  // Returns the program's peaks with these changes. PyTorch re-runs the program with the changes that need
  // it; the other changes transform the step. An error contains PyTorch's message, or what the recorded
  // program lacks.
  [[nodiscard]] virtual Result<whatif::Prediction> Predict(std::span<const whatif::Asked> changes) = 0;
};

}  // namespace vramscope::plan
