// SPDX-License-Identifier: Apache-2.0
// The rows of a device's memory as a table of text: in reports and explanations.
#pragma once

#include <string>

#include "profiler/cli/terminal.h"
#include "profiler/report/device_memory.h"

namespace vramscope::cli {

// Rows that are not 0, largest first, unattributed last; user code by library below its row.
[[nodiscard]] std::string DeviceMemoryTable(const report::DeviceMemory& memory, const Terminal& terminal);
// "Device memory at the peak: 21.0 of 80.0 GiB in use"
[[nodiscard]] std::string DeviceMemoryHeading(const report::DeviceMemory& memory, std::string_view when);

}  // namespace vramscope::cli
