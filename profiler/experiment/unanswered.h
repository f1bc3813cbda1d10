// SPDX-License-Identifier: Apache-2.0
// The message if a change needs a re-run and the trace has none: why the program cannot be run here, and the
// alternative.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/experiment/program_head.h"
#include "profiler/experiment/question.h"

namespace vramscope::experiment {

// One or two sentences; "" = the program can be run.
[[nodiscard]] std::string WhyNoProgram(const std::optional<NotedProgram>& program,
                                       const std::vector<whatif::Asked>& changes);

// "vramscope try --dry --gpu rtx-4090 --amp bf16 -- python train.py". `gpu`: "" = unknown. Secrets in the
// trace's command line are removed.
[[nodiscard]] std::string TryCommand(const trace::Metadata& metadata, const std::string& gpu,
                                     const std::vector<whatif::Asked>& changes);

}  // namespace vramscope::experiment
