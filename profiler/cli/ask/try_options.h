// SPDX-License-Identifier: Apache-2.0
// The options of `vramscope try` that define a change.
#pragma once

#include <span>

#include "profiler/cli/frame/arguments.h"
#include "profiler/experiment/try/try_change.h"
#include "trace_format/result.h"

namespace vramscope::cli {

std::span<const Option> ChangeOptions();

// Returns the change that the options define. Returns an error if an option is invalid, or if no option
// defines a change.
Result<experiment::Change> ChangeFrom(const Arguments& arguments);

}  // namespace vramscope::cli
