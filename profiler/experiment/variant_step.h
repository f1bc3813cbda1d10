// SPDX-License-Identifier: Apache-2.0
// Reads the trace of a stored re-run (a variant): the deep step, and PyTorch's counters for the whole run.
#pragma once

#include <memory>
#include <optional>

#include "profiler/whatif/answer/predict.h"
#include "trace_format/bytes.h"

namespace vramscope::experiment {

struct VariantStep {
  trace::Bytes bytes;  // contents of the trace; each member refers to the members before it
  model::Run run;
  std::optional<classify::Analysis> analysis;
  model::DeviceIndex device = 0;
  whatif::Step step;
  whatif::Baseline baseline;
  whatif::Replayed counters;  // PyTorch's own counters
};

// Takes some tens of milliseconds. Step::own_switch is not set, because a variant contains no program. Fails
// if the trace has no step. The error message does not contain the file name.
[[nodiscard]] Result<std::unique_ptr<VariantStep>> ReadVariantStep(trace::Bytes bytes);

}  // namespace vramscope::experiment
