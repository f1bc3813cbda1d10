// SPDX-License-Identifier: Apache-2.0
// The trace of a re-run: its deep step, and PyTorch's counters for the whole run.
#pragma once

#include <memory>
#include <optional>

#include "profiler/whatif/answer/predict.h"
#include "trace_format/bytes.h"

namespace vramscope::experiment {

struct VariantStep {
  trace::Bytes bytes;  // read by `run`; each member depends on those before it
  model::Run run;
  std::optional<classify::Analysis> analysis;
  model::DeviceIndex device = 0;
  whatif::Step step;
  whatif::Baseline baseline;
  whatif::Replayed counters;  // PyTorch's own counters
};

// Takes some tens of milliseconds. The step has no own_switch, because a variant has no program. Fails if the
// trace has no step. The error has no file name.
[[nodiscard]] Result<std::unique_ptr<VariantStep>> ReadVariantStep(trace::Bytes bytes);

}  // namespace vramscope::experiment
