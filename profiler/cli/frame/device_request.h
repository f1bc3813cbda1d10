// SPDX-License-Identifier: Apache-2.0
// --device, --process and --rank, which all verbs about a device of a process have in common
// (VerbHelp::selects), and what an answer speaks of in words.
#pragma once

#include "profiler/cli/frame/arguments.h"
#include "profiler/report/request.h"

namespace vramscope::cli {

// A request for the device and process that were given, as far as they were; an error when --process or
// --rank is no number.
[[nodiscard]] Result<report::Request> DeviceRequest(const Arguments& arguments);

// "rank 1 (process 4711), cuda:1; 3 others not shown"
[[nodiscard]] std::string AboutText(const std::string& about, uint32_t others);

}  // namespace vramscope::cli
