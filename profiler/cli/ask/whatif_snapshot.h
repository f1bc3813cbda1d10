// SPDX-License-Identifier: Apache-2.0
// Answers what-if questions about allocator settings from a PyTorch snapshot. Other changes cannot be
// answered from a snapshot, because it contains no operators.
#pragma once

#include <string>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/experiment/answerer.h"
#include "profiler/snapshot/run_file.h"

namespace vramscope::cli {

using experiment::WhatifQuestion;

// Prints the answers and returns the exit code. `table`: one row per question. For changes other than
// allocator settings, prints that a recording is needed.
Result<int> AnswerForSnapshot(const snapshot::RunFile& given, const std::vector<WhatifQuestion>& questions,
                              bool table, const Arguments& arguments, const Terminal& terminal);

}  // namespace vramscope::cli
