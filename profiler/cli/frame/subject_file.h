// SPDX-License-Identifier: Apache-2.0
// Opens the input file of `vramscope frag`, `oom` and `replay`: a trace or a PyTorch snapshot. The subject is
// the history of one device in this file.
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
  // `failures`: number of out-of-memory failures on the selected devices. `failure`: the number of the
  // examined failure among them, from 1; 0 if there is none. `failure_on_device`: the number of this failure
  // among the failures of its own device.
  size_t failures = 0;
  size_t failure = 0;
  size_t failure_on_device = 0;
};

// Options that select a device, in addition to --device, --process and --rank.
struct SubjectQuestion {
  std::vector<std::string> at;  // moments; the moment "oom" selects the device of the failure
  bool failure = false;         // true: select the device of a failed request
  size_t number = 0;            // number of that failed request, from 1; 0 = the failure that ended the run
};

// Opens the file and chooses the device (report/device_choice.h).
[[nodiscard]] Result<std::unique_ptr<SubjectFile>> OpenSubject(const snapshot::RunFile& given,
                                                               const Arguments& arguments,
                                                               const SubjectQuestion& question = {});

}  // namespace vramscope::cli
