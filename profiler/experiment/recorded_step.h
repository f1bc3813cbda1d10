// SPDX-License-Identifier: Apache-2.0
// The recorded step that predictions start from.
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
  std::string failed;  // report::HowItFailed()
  whatif::Step step;
  whatif::Baseline baseline;
};

// whatif::ReadStep, plus Step::own_switch from the program of the device's process.
[[nodiscard]] Result<whatif::Step> ReadStepWithProgram(const classify::Analysis& analysis,
                                                       model::DeviceIndex device);

// `path` is for messages. If the run has no step to predict from, the error is of the kind "cannot judge".
// `changes`: the changes to predict. The error names the `vramscope try` command for them, if `try` supports
// the framework.
Result<std::unique_ptr<RecordedStep>> ReadRecordedStep(const std::string& path, Result<model::Run> run,
                                                       const report::Request& request,
                                                       const std::vector<whatif::Asked>& changes = {});

}  // namespace vramscope::experiment
