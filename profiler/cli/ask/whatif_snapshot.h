// SPDX-License-Identifier: Apache-2.0
// What a snapshot of PyTorch can be asked: other settings of the allocator.
//
// Why only these: a snapshot has each request and each free, and none of the operators that made them.
#pragma once

#include <string>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/whatif/answer/predict.h"

namespace vramscope::cli {

struct WhatifQuestion {
  std::string title;  // how it was asked for
  std::vector<whatif::Asked> asked;
};

// Prints the answers, `table`: as a line each, and returns the exit code. Through the same model as
// `vramscope replay --settings`; other changes are refused with what to record.
int AnswerForSnapshot(const std::string& path, const std::vector<WhatifQuestion>& questions, bool table,
                      const Arguments& arguments, const Terminal& terminal);

}  // namespace vramscope::cli
