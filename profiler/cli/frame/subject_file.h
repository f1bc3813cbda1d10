// SPDX-License-Identifier: Apache-2.0
// Opens the input of `vramscope frag`, `oom` and `replay`: a trace or a PyTorch snapshot.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/cli/frame/arguments.h"
#include "profiler/fragmentation/subject.h"
#include "profiler/report/request.h"
#include "profiler/snapshot/run_file.h"
#include "trace_format/result.h"

namespace vramscope::cli {

// A subject, and the objects that it points to.
struct SubjectFile {
  std::unique_ptr<model::Run> run;
  std::unique_ptr<classify::Analysis> analysis;
  fragmentation::Subject subject;
  // `failures`: number of out-of-memory failures on the selected devices. `failure`: the examined one among
  // them, 1-based; 0: none. `failure_on_device`: its number among the failures of its own device.
  size_t failures = 0;
  size_t failure = 0;
  size_t failure_on_device = 0;
};

// Options in addition to --device, --process and --rank.
struct SubjectQuestion {
  std::vector<std::string> at;  // moments; a moment that belongs to a device selects that device
  bool failure = false;         // select the device of a failed request
  size_t number = 0;            // of the failure, 1-based; 0: the failure that ended the run
};

// report/device_choice.h chooses the device.
[[nodiscard]] Result<std::unique_ptr<SubjectFile>> OpenSubject(const snapshot::RunFile& given,
                                                               const Arguments& arguments,
                                                               const SubjectQuestion& question = {});

}  // namespace vramscope::cli
