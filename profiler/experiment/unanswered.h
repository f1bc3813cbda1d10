// SPDX-License-Identifier: Apache-2.0
// Texts for a change that needs a re-run if the trace contains no such re-run: why the recorded program
// cannot run, and the command to use instead.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/experiment/program_head.h"
#include "profiler/experiment/question.h"

namespace vramscope::experiment {

// Returns why the recorded program cannot be run with `changes`, in one or two sentences; "" if it can.
[[nodiscard]] std::string WhyNoProgram(const std::optional<NotedProgram>& program,
                                       const std::vector<whatif::Asked>& changes);

// Returns the command "vramscope try --dry --gpu rtx-4090 --amp bf16 -- python train.py". If `gpu` is "", the
// command contains the placeholder GPU. Secrets in the trace's command line are removed.
[[nodiscard]] std::string TryCommand(const trace::Metadata& metadata, const std::string& gpu,
                                     const std::vector<whatif::Asked>& changes);

}  // namespace vramscope::experiment
