// SPDX-License-Identifier: Apache-2.0
// Device memory and host memory as text, for reports and explanations.
#pragma once

#include <string>

#include "profiler/cli/frame/terminal.h"
#include "profiler/report/device_memory.h"
#include "profiler/report/host_memory.h"

namespace vramscope::cli {

inline constexpr int kWidestBar = 32;  // columns

// Returns a table of the parts of device memory that are not 0. The largest part is first, `unattributed` is
// last. After each part, at most five rows show its libraries.
[[nodiscard]] std::string DeviceMemoryTable(const report::DeviceMemory& memory, const Terminal& terminal);
// "Device memory at the peak: 21.0 of 80.0 GiB in use"
[[nodiscard]] std::string DeviceMemoryHeading(const report::DeviceMemory& memory, std::string_view when);
// Returns one row each for the main process, the workers, shared memory and pinned memory. One sentence
// follows for each of them that grows.
[[nodiscard]] std::string HostMemoryText(const report::HostMemory& memory, const model::Framework& framework,
                                         const Terminal& terminal);

}  // namespace vramscope::cli
