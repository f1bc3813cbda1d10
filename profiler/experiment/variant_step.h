// SPDX-License-Identifier: Apache-2.0
// The trace of a re-run, read as far as answers need it: its deep step, and PyTorch's counters of the whole
// run.
#pragma once

#include <memory>
#include <optional>

#include "profiler/whatif/answer/predict.h"
#include "trace_format/bytes.h"

namespace vramscope::experiment {

struct VariantStep {
  trace::Bytes bytes;  // that `run` reads from, and all that follows from what stands before it
  model::Run run;
  std::optional<classify::Analysis> analysis;
  model::DeviceIndex device = 0;
  whatif::Step step;
  whatif::Baseline baseline;
  whatif::Replayed counters;  // PyTorch's own
};

// In one place for good, because its parts refer to each other. Some tens of milliseconds. An error is a
// sentence without a file's name: there is no step to answer from.
[[nodiscard]] Result<std::unique_ptr<VariantStep>> ReadVariantStep(trace::Bytes bytes);

}  // namespace vramscope::experiment
