// SPDX-License-Identifier: Apache-2.0
// The options --device, --process and --rank, which all verbs share that report on one device of one process.
#pragma once

#include "profiler/cli/frame/arguments.h"
#include "profiler/report/request.h"

namespace vramscope::cli {

// Fails if --process or --rank is not a number.
[[nodiscard]] Result<report::Request> DeviceRequest(const Arguments& arguments);

// Appends the number of other devices to a device's name: "rank 1 (process 4711), cuda:1; 3 others not
// shown".
[[nodiscard]] std::string AboutText(const std::string& about, uint32_t others);

}  // namespace vramscope::cli
