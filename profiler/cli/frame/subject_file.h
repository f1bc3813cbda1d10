// SPDX-License-Identifier: Apache-2.0
// Opens what `vramscope frag`, `oom` and `replay` are about: a trace or a snapshot of PyTorch, told apart by
// their content.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/cli/frame/arguments.h"
#include "profiler/fragmentation/subject.h"
#include "profiler/report/request.h"
#include "trace_format/result.h"

namespace vramscope::cli {

// Keeps what the subject points into.
struct SubjectFile {
  std::unique_ptr<model::Run> run;
  std::unique_ptr<classify::Analysis> analysis;
  fragmentation::Subject subject;
  // Of the requests that failed on all devices that are meant: how many, and which one is examined, from 1
  // (0: none), on its device number `failure_on_device`.
  size_t failures = 0;
  size_t failure = 0;
  size_t failure_on_device = 0;
};

// What of the file is opened besides what --device, --process and --rank say.
struct SubjectQuestion {
  std::vector<std::string> at;  // moments; one that needs a certain device chooses it
  bool failure = false;         // the device is that of a failed request
  size_t number = 0;            // of the failure, from 1; 0: the one that ended the run
};

// The device is chosen by report/device_choice.h. The sentence of an error names the file.
[[nodiscard]] Result<std::unique_ptr<SubjectFile>> OpenSubject(const std::string& path,
                                                               const Arguments& arguments,
                                                               const SubjectQuestion& question = {});

}  // namespace vramscope::cli
