// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/device_memory.h"

#include <algorithm>
#include <numeric>

namespace vramscope::report {
namespace {

using classify::Category;
using model::DriverOwner;

constexpr std::array<DeviceRowInfo, kDeviceRowCount> kRows = {{
    {"pytorch_allocated", nullptr, nullptr, Category::kParameter},
    {"pytorch_cached", nullptr, nullptr, Category::kBuffer},
    {"pytorch_beside", nullptr, nullptr, Category::kBuffer},
    {"nccl", "NCCL", "are NCCL's buffers", Category::kCommunication},
    {"cublas", "cuBLAS", "are cuBLAS's workspaces", Category::kWorkspace},
    {"cudnn", "cuDNN", "are cuDNN's", Category::kWorkspace},
    {"cuda_libraries", "other CUDA libraries", "are of other CUDA libraries", Category::kWorkspace},
    {"cuda_graphs", "CUDA graphs", "are reserved for allocations inside CUDA graphs",
     Category::kTemporaryForward},
    {"context", "Context and code", "are the CUDA context and code", Category::kContext},
    {"user", "User code", "are allocated by user code", Category::kInput},
    {"managed", "Managed memory", "are managed memory", Category::kInput},
    {"pools", "Pools, free", "are free inside the driver's memory pools", Category::kBuffer},
    {"rounding", "Rounding to pages", "are lost to pages of 2 MiB", Category::kUnattributed},
    {"other_processes", "Other processes", "belong to other processes", Category::kCommunication},
    {"unattributed", "Unattributed", "are counted by the driver but not by any recorded call",
     Category::kUnattributed},
}};

DeviceRow RowOf(DriverOwner owner) {
  switch (owner) {
    case DriverOwner::kPyTorch:
      return DeviceRow::kCached;  // allocated bytes are subtracted from it
    case DriverOwner::kPyTorchBeside:
      return DeviceRow::kPyTorchBeside;
    case DriverOwner::kNccl:
      return DeviceRow::kNccl;
    case DriverOwner::kCublas:
      return DeviceRow::kCublas;
    case DriverOwner::kCudnn:
      return DeviceRow::kCudnn;
    case DriverOwner::kCudaLibraries:
      return DeviceRow::kCudaLibraries;
    case DriverOwner::kGraphs:
      return DeviceRow::kGraphs;
    case DriverOwner::kContext:
      return DeviceRow::kContext;
    case DriverOwner::kUser:
      return DeviceRow::kUser;
    case DriverOwner::kManaged:
      return DeviceRow::kManaged;
    case DriverOwner::kPools:
      return DeviceRow::kPools;
    case DriverOwner::kRounding:
      return DeviceRow::kRounding;
  }
  return DeviceRow::kUnattributed;
}

std::string FileName(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

}  // namespace

const DeviceRowInfo& Info(DeviceRow row) { return kRows[static_cast<size_t>(row)]; }

model::Framework::Words WordsOf(DeviceRow row, const model::Framework& framework) {
  switch (row) {
    case DeviceRow::kAllocated:
      return framework.allocated;
    case DeviceRow::kCached:
      return framework.cached;
    case DeviceRow::kPyTorchBeside:
      return framework.beside;
    default:
      return {Info(row).name, Info(row).clause};
  }
}

int64_t DeviceMemory::Sum() const { return std::accumulate(rows.begin(), rows.end(), int64_t{0}); }

std::optional<DeviceMemory> DeviceMemoryAfter(const model::Run& run, model::ProcessIndex process,
                                              uint16_t device_code, model::EventIndex at,
                                              uint64_t allocated) {
  const model::DriverDevice* device = run.driver.Find(process, device_code);
  if (device == nullptr) return std::nullopt;
  DeviceMemory memory;
  memory.framework = &model::FrameworkOf(*run.source);
  const auto add = [&](DeviceRow row, int64_t bytes) { memory.rows[static_cast<size_t>(row)] += bytes; };
  const model::DriverUse use = device->UseAfter(at, process);
  for (size_t owner = 0; owner < model::kDriverOwnerCount; ++owner)
    add(RowOf(static_cast<DriverOwner>(owner)), use.owners[owner]);
  add(DeviceRow::kAllocated, static_cast<int64_t>(allocated));
  add(DeviceRow::kCached, -static_cast<int64_t>(allocated));
  add(DeviceRow::kOtherProcesses, use.other_processes);
  add(DeviceRow::kUnattributed, use.unattributed);
  memory.used = use.used;
  memory.capacity = use.capacity;
  for (const model::DriverDevice::RowBytes& row : device->RowsAfter(at)) {
    if (row.row.process != process || row.row.library == 0) continue;
    memory.libraries.push_back({FileName(run.Text(row.row.library)), RowOf(row.row.owner), row.bytes});
  }
  std::stable_sort(memory.libraries.begin(), memory.libraries.end(),
                   [](const LibraryBytes& a, const LibraryBytes& b) { return a.bytes > b.bytes; });
  return memory;
}

}  // namespace vramscope::report
