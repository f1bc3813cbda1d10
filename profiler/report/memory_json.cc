// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/memory_json.h"

#include "profiler/text/or_null.h"

namespace vramscope::report {

using Json = nlohmann::ordered_json;

namespace {

using text::OrNull;

Json GrowthJson(const std::optional<Growth>& growth) {
  if (!growth.has_value()) return nullptr;
  return {{"bytes", growth->bytes}, {"bytes_per_step", growth->bytes_per_step}};
}

Json ProcessJson(const HostProcess& process) {
  return {{"process", process.pid},
          {"role", process.role},
          {"peak_rss_bytes", process.peak_rss_bytes},
          {"peak_shared_bytes", process.peak_shared_bytes},
          {"peak_pss_bytes", OrNull(process.peak_pss_bytes)},
          {"growth", GrowthJson(process.growth)}};
}

}  // namespace

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

Json HostMemoryJson(const std::optional<HostMemory>& memory) {
  if (!memory.has_value()) return nullptr;
  Json workers = Json::array();
  for (const HostProcess& worker : memory->workers) workers.push_back(ProcessJson(worker));
  Json pinned = nullptr;
  if (memory->pinned.has_value())
    pinned = {{"peak_bytes", memory->pinned->peak_bytes},
              {"peak_pytorch_bytes", memory->pinned->peak_pytorch_bytes}};
  return {{"main", ProcessJson(memory->main)},
          {"workers", std::move(workers)},
          {"workers_peak_rss_bytes", memory->workers_peak_rss_bytes},
          {"workers_peak_pss_bytes", OrNull(memory->workers_peak_pss_bytes)},
          {"workers_growth", GrowthJson(memory->workers_growth)},
          {"shm_peak_bytes", memory->shm_peak_bytes},
          {"shm_size_bytes", memory->shm_size_bytes},
          {"pinned", std::move(pinned)}};
}

}  // namespace vramscope::report
