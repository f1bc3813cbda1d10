// SPDX-License-Identifier: Apache-2.0
// Reads the options that several recording verbs share (`vramscope record`, `attach`, `dryrun`).
#pragma once

#include <string>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/option_value.h"
#include "profiler/collector/launch/record.h"

namespace vramscope::cli {

// Returns an error if `text` is not a valid value of --deep-steps: "2-4", "3", or a list of these with
// commas.
Status CheckSteps(const std::string& text);

// Reads --stacks and --embed-source. `options.depth` must be set. Returns an error if other options make one
// of the two useless: --stacks needs deep steps, --embed-source needs stacks.
Status ReadStacks(const Arguments& arguments, collector::RecordOptions& options);

// Reads --black-box.
Status ReadBlackBox(const Arguments& arguments, collector::RecordOptions& options);

// Reads --program.
Status ReadProgram(const Arguments& arguments, collector::RecordOptions& options);
inline constexpr char kProgramHelp[] =
    "Record one training step as a program that whatif can run again (docs/rerun.md).";

}  // namespace vramscope::cli
