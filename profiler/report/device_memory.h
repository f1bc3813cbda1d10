// SPDX-License-Identifier: Apache-2.0
// Divides the used memory of a device at one moment into rows by owner: tensors of the process, and all other
// memory that nvidia-smi counts.
//
//   used by the device = pytorch_allocated + pytorch_cached + nccl + ... + other_processes + unattributed
//                        └ the categories ┘
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/classify/category.h"
#include "profiler/model/framework.h"
#include "profiler/model/run.h"

namespace vramscope::report {

enum class DeviceRow : uint8_t {
  kAllocated,       // allocated blocks of the caching allocator
  kCached,          // free memory inside segments of the caching allocator
  kPyTorchBeside,   // allocated by PyTorch outside its caching allocator
  kNccl,            // buffers of NCCL
  kCublas,          // workspaces of cuBLAS
  kCudnn,           // memory of cuDNN
  kCudaLibraries,   // memory of other CUDA libraries
  kGraphs,          // reserved for allocations inside CUDA graphs
  kContext,         // CUDA context and machine code
  kUser,            // allocated by user code
  kManaged,         // managed memory
  kPools,           // free memory inside the driver's memory pools
  kRounding,        // difference to whole pages of 2 MiB
  kOtherProcesses,  // memory of other processes
  kUnattributed,    // counted by the driver, but without a recorded call
};
inline constexpr size_t kDeviceRowCount = 15;

struct DeviceRowInfo {
  const char* key;                // name in JSON: "pytorch_cached"
  const char* name;               // name for users: "NCCL"; nullptr = WordsOf() has it
  const char* clause;             // text after a number: "are NCCL's buffers"; nullptr = WordsOf() has it
  classify::Category color_like;  // the category that has the same color
};
[[nodiscard]] const DeviceRowInfo& Info(DeviceRow row);
// Returns name and clause of a row. Some rows have other words for each framework.
[[nodiscard]] model::Framework::Words WordsOf(DeviceRow row, const model::Framework& framework);

struct LibraryBytes {
  std::string library;  // file name
  DeviceRow row{};
  int64_t bytes = 0;
};

struct DeviceMemory {
  // Bytes of each row. A row is negative only if the trace contradicts itself, for example if a block is in a
  // segment that was not recorded.
  std::array<int64_t, kDeviceRowCount> rows = {};
  // Used bytes of the whole device, as the driver reported them. They equal the sum of all rows. nullopt if
  // the trace has no such report yet; the row kUnattributed is then 0.
  std::optional<uint64_t> used;
  std::optional<uint64_t> capacity;     // bytes; nullopt like `used`
  std::vector<LibraryBytes> libraries;  // the libraries in the rows kUser and kManaged, largest first
  const model::Framework* framework = &model::PyTorch();

  [[nodiscard]] int64_t Of(DeviceRow row) const { return rows[static_cast<size_t>(row)]; }
  [[nodiscard]] int64_t Sum() const;
};

// Returns the rows after event `at`. Memory of all processes except `process` is in kOtherProcesses.
// `allocated`: the allocated bytes of `process` on the device. Returns nullopt if no driver call was recorded
// for the device.
[[nodiscard]] std::optional<DeviceMemory> DeviceMemoryAfter(const model::Run& run,
                                                            model::ProcessIndex process, uint16_t device_code,
                                                            model::EventIndex at, uint64_t allocated);

}  // namespace vramscope::report
