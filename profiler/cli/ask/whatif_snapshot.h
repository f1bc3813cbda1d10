// SPDX-License-Identifier: Apache-2.0
// Answers what-if questions about allocator settings for a PyTorch snapshot. A snapshot has no operators, so
// other questions cannot be answered.
#pragma once

#include <string>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/experiment/answerer.h"
#include "profiler/snapshot/run_file.h"

namespace vramscope::cli {

using experiment::WhatifQuestion;

// Prints the answers (`table`: one line each) and returns the exit code. Refuses other changes, and names
// what to record instead.
Result<int> AnswerForSnapshot(const snapshot::RunFile& given, const std::vector<WhatifQuestion>& questions,
                              bool table, const Arguments& arguments, const Terminal& terminal);

}  // namespace vramscope::cli
