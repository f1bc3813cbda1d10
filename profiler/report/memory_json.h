// SPDX-License-Identifier: Apache-2.0
// Device memory and host memory as JSON. All JSON documents use the same form.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "profiler/report/device_memory.h"
#include "profiler/report/host_memory.h"

namespace vramscope::report {

// Returns the bytes of each row of `memory`, or null if unknown.
[[nodiscard]] nlohmann::ordered_json DriverJson(const std::optional<DeviceMemory>& memory);
// Returns the bytes of each library in the rows `user` and `managed`. The list is empty if they are unknown.
[[nodiscard]] nlohmann::ordered_json DriverLibrariesJson(const std::optional<DeviceMemory>& memory);

// Returns the host memory, or null if unknown.
[[nodiscard]] nlohmann::ordered_json HostMemoryJson(const std::optional<HostMemory>& memory);

}  // namespace vramscope::report
