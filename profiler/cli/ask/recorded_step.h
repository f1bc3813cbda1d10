// SPDX-License-Identifier: Apache-2.0
// The recorded step of a trace that changes are predicted for, for the verbs that predict.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "profiler/report/device_choice.h"
#include "profiler/whatif/answer/predict.h"

namespace vramscope::cli {

struct RecordedStep {
  model::Run run;
  std::optional<classify::Analysis> analysis;  // of `run`, as all of the following
  model::DeviceIndex device = 0;
  report::Spoken spoken;  // of the device
  std::string failed;     // report::HowItFailed()
  whatif::Step step;
  whatif::Baseline baseline;
};

// In one place for good, because its parts refer to each other. `path` is for messages; on an error `code` is
// what a verb exits with.
Result<std::unique_ptr<RecordedStep>> ReadRecordedStep(const std::string& path, Result<model::Run> run,
                                                       const report::Request& request, int* code);

}  // namespace vramscope::cli
