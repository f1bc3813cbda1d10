// SPDX-License-Identifier: Apache-2.0
// Reads the recorded step from which `vramscope whatif` and `plan` predict.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/report/device_choice.h"
#include "profiler/whatif/answer/predict.h"

namespace vramscope::experiment {

struct RecordedStep {
  model::Run run;
  std::optional<classify::Analysis> analysis;
  model::DeviceIndex device = 0;
  report::Spoken spoken;
  std::string failed;  // how the recorded run failed (report::HowItFailed()); "" if it did not
  whatif::Step step;
  whatif::Baseline baseline;
};

// Like whatif::ReadStep, but also sets Step::own_switch if the trace contains a program of the device's
// process.
[[nodiscard]] Result<whatif::Step> ReadStepWithProgram(const classify::Analysis& analysis,
                                                       model::DeviceIndex device);

// Reads the step from `run`. `path` is used in error messages. `changes`: the changes to predict. If the run
// has no step from which changes can be predicted, the error has the kind "cannot judge". For frameworks
// without predictions, the error contains the `vramscope try` command for the changes.
Result<std::unique_ptr<RecordedStep>> ReadRecordedStep(const std::string& path, Result<model::Run> run,
                                                       const report::Request& request,
                                                       const std::vector<whatif::Asked>& changes = {});

}  // namespace vramscope::experiment
