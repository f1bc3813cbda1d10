// SPDX-License-Identifier: Apache-2.0
// The options of `vramscope try` that define a change.
#pragma once

#include <span>

#include "profiler/cli/frame/arguments.h"
#include "profiler/experiment/try/try_change.h"
#include "trace_format/result.h"

namespace vramscope::cli {

std::span<const Option> ChangeOptions();

// The error explains what is wrong with an option, or that there is none.
Result<experiment::Change> ChangeFrom(const Arguments& arguments);

}  // namespace vramscope::cli
