// SPDX-License-Identifier: Apache-2.0
// --device and --process, which verbs about one device of one process have in common.
#pragma once

#include "profiler/cli/arguments.h"
#include "profiler/report/request.h"

namespace vramscope::cli {

// A request for the device and process that were given, as far as they were; an error when --process is no
// number.
[[nodiscard]] Result<report::Request> DeviceRequest(const Arguments& arguments);

}  // namespace vramscope::cli
