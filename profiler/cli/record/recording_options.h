// SPDX-License-Identifier: Apache-2.0
// Options that the verbs which record a command have in common.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "profiler/cli/frame/arguments.h"
#include "profiler/collector/launch/record.h"

namespace vramscope::cli {

Status CheckChoice(const char* option, const std::string& value,
                   std::initializer_list<std::string_view> choices);

// --stacks and --embed-source, into `options`, whose depth is known; an error where they record nothing.
Status ReadStacks(const Arguments& arguments, collector::RecordOptions& options);

// --program, into `options`.
Status ReadProgram(const Arguments& arguments, collector::RecordOptions& options);
inline constexpr char kProgramHelp[] =
    "Record one training step as a program that whatif can run again (docs/rerun.md).";

}  // namespace vramscope::cli
