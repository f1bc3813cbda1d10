// SPDX-License-Identifier: Apache-2.0
// The recorded step that predictions start from. All commands that predict changes read it here.
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
  std::optional<classify::Analysis> analysis;  // of `run`, like all that follow
  model::DeviceIndex device = 0;
  report::Spoken spoken;  // words for the device
  std::string failed;     // report::HowItFailed()
  whatif::Step step;
  whatif::Baseline baseline;
};

// whatif::ReadStep, with what the program of the device's process says about the model (Step::own_switch).
[[nodiscard]] Result<whatif::Step> ReadStepWithProgram(const classify::Analysis& analysis,
                                                       model::DeviceIndex device);

// Returned by pointer because its parts refer to each other. `path` is for messages. If the run can be read
// but has no step to predict from, the error is of the kind "cannot judge". `changes`: what will be predicted.
// The error names the `vramscope try` command for them if `try` supports the program's framework.
Result<std::unique_ptr<RecordedStep>> ReadRecordedStep(const std::string& path, Result<model::Run> run,
                                                       const report::Request& request,
                                                       const std::vector<whatif::Asked>& changes = {});

}  // namespace vramscope::experiment
