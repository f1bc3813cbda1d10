// SPDX-License-Identifier: Apache-2.0
// Device memory and host memory as text: in reports and explanations.
#pragma once

#include <string>

#include "profiler/cli/frame/terminal.h"
#include "profiler/report/device_memory.h"
#include "profiler/report/host_memory.h"

namespace vramscope::cli {

// Rows that are not 0, largest first, unattributed last; user code by library below its row.
inline constexpr int kWidestBar = 32;  // columns

[[nodiscard]] std::string DeviceMemoryTable(const report::DeviceMemory& memory, const Terminal& terminal);
// "Device memory at the peak: 21.0 of 80.0 GiB in use"
[[nodiscard]] std::string DeviceMemoryHeading(const report::DeviceMemory& memory, std::string_view when);
// A row for the main process, the workers, what is shared and what is pinned, and a sentence for what grows.
[[nodiscard]] std::string HostMemoryText(const report::HostMemory& memory, const Terminal& terminal);

}  // namespace vramscope::cli
