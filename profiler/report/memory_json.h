// SPDX-License-Identifier: Apache-2.0
// The JSON forms of a device's rows and of host memory, the same in every answer that contains them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "profiler/report/device_memory.h"
#include "profiler/report/host_memory.h"

namespace vramscope::report {

// Bytes by row, all rows; null if unknown.
[[nodiscard]] nlohmann::ordered_json DriverJson(const std::optional<DeviceMemory>& memory);
// The rows `user` and `managed` by library.
[[nodiscard]] nlohmann::ordered_json DriverLibrariesJson(const std::optional<DeviceMemory>& memory);

// null if unknown.
[[nodiscard]] nlohmann::ordered_json HostMemoryJson(const std::optional<HostMemory>& memory);

}  // namespace vramscope::report
