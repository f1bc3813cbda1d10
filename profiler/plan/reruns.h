// SPDX-License-Identifier: Apache-2.0
// The interface through which a search asks for re-runs of the recorded program.
//
// The command knows whether PyTorch is available, and which variants the trace has.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/whatif/answer/predict.h"

namespace vramscope::plan {

class Reruns {
 public:
  virtual ~Reruns() = default;
  [[nodiscard]] virtual Result<uint64_t> BatchSize() = 0;
  // Announces changes, so that their re-runs can run together.
  virtual void Prepare(std::span<const std::vector<whatif::Asked>> wanted) { (void)wanted; }
  // The program's peaks under these changes, which may be of any kind. A change that needs a re-run is run;
  // the others transform the recorded step. Errors: PyTorch's own, or what the recorded program lacks.
  [[nodiscard]] virtual Result<whatif::Prediction> Predict(std::span<const whatif::Asked> changes) = 0;
};

}  // namespace vramscope::plan
