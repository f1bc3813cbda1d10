// SPDX-License-Identifier: Apache-2.0
// Reads the options shared by all verbs that record a command.
#pragma once

#include <string>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/option_value.h"
#include "profiler/collector/launch/record.h"

namespace vramscope::cli {

// Fails if `text` is not a value of --deep-steps: "2-4", "3", or a list with commas.
Status CheckSteps(const std::string& text);

// Reads --stacks and --embed-source. `options.depth` must be set. Fails if the options would record nothing.
Status ReadStacks(const Arguments& arguments, collector::RecordOptions& options);

// Reads --black-box.
Status ReadBlackBox(const Arguments& arguments, collector::RecordOptions& options);

// Reads --program.
Status ReadProgram(const Arguments& arguments, collector::RecordOptions& options);
inline constexpr char kProgramHelp[] =
    "Record one training step as a program that whatif can run again (docs/rerun.md).";

}  // namespace vramscope::cli
