// SPDX-License-Identifier: Apache-2.0
// The recorded step that predictions start from. All verbs that predict changes read it here.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "profiler/report/device_choice.h"
#include "profiler/whatif/answer/predict.h"

namespace vramscope::cli {

struct RecordedStep {
  model::Run run;
  std::optional<classify::Analysis> analysis;  // of `run`, like all that follow
  model::DeviceIndex device = 0;
  report::Spoken spoken;  // words for the device
  std::string failed;     // report::HowItFailed()
  whatif::Step step;
  whatif::Baseline baseline;
};

// Returned by pointer because its parts refer to each other. `path` is for messages; after an error, `code`
// is the exit code of the verb.
Result<std::unique_ptr<RecordedStep>> ReadRecordedStep(const std::string& path, Result<model::Run> run,
                                                       const report::Request& request, int* code);

}  // namespace vramscope::cli
