// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/device_json.h"

namespace vramscope::report {

using Json = nlohmann::ordered_json;

Json DriverJson(const std::optional<DeviceMemory>& memory) {
  if (!memory.has_value()) return nullptr;
  Json rows = Json::object();
  for (size_t i = 0; i < kDeviceRowCount; ++i) rows[Info(static_cast<DeviceRow>(i)).key] = memory->rows[i];
  return rows;
}

Json DriverLibrariesJson(const std::optional<DeviceMemory>& memory) {
  Json libraries = Json::array();
  if (!memory.has_value()) return libraries;
  for (const LibraryBytes& of : memory->libraries)
    libraries.push_back({{"library", of.library}, {"row", Info(of.row).key}, {"bytes", of.bytes}});
  return libraries;
}

}  // namespace vramscope::report
