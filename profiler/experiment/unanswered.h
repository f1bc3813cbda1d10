// SPDX-License-Identifier: Apache-2.0
// What to say of a change that no re-run was kept of: why the program of the trace cannot be run, and what
// answers instead.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/experiment/program_head.h"
#include "profiler/experiment/question.h"

namespace vramscope::experiment {

// One sentence or two; "": there is a program that can be run.
[[nodiscard]] std::string WhyNoProgram(const std::optional<NotedProgram>& program,
                                       const std::vector<whatif::Asked>& changes);

// "vramscope try --dry --gpu rtx-4090 --amp bf16 -- python train.py": the change on the program itself.
// `gpu`: "" = not known. Of the trace's command line secrets are left out.
[[nodiscard]] std::string TryCommand(const trace::Metadata& metadata, const std::string& gpu,
                                     const std::vector<whatif::Asked>& changes);

}  // namespace vramscope::experiment
