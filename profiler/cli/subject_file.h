// SPDX-License-Identifier: Apache-2.0
// Opens what `vramscope frag` and `vramscope oom` are about: a trace or a snapshot of PyTorch, told apart by
// their content.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/cli/arguments.h"
#include "profiler/fragmentation/subject.h"
#include "trace_format/result.h"

namespace vramscope::cli {

// Keeps what the subject points into.
struct SubjectFile {
  std::unique_ptr<model::Run> run;
  std::unique_ptr<classify::Analysis> analysis;
  fragmentation::Subject subject;
};

// With the options --device and --process where they were given. The sentence of an error names the file.
[[nodiscard]] Result<std::unique_ptr<SubjectFile>> OpenSubject(const std::string& path,
                                                               const Arguments& arguments);

}  // namespace vramscope::cli
