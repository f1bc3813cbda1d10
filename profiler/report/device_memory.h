// SPDX-License-Identifier: Apache-2.0
// The parts of a device's memory at a moment: tensors, and everything else that nvidia-smi counts.
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
  kAllocated,  // allocated blocks of the caching allocator
  kCached,     // free memory inside its segments
  kPyTorchBeside,
  kNccl,
  kCublas,
  kCudnn,
  kCudaLibraries,
  kGraphs,
  kContext,
  kUser,
  kManaged,
  kPools,
  kRounding,
  kOtherProcesses,
  kUnattributed,
};
inline constexpr size_t kDeviceRowCount = 15;

struct DeviceRowInfo {
  const char* key;                // in JSON: "pytorch_cached"
  const char* name;               // for people: "NCCL"; nullptr: the framework's (WordsOf)
  const char* clause;             // follows a number: "are NCCL's buffers"; nullptr likewise
  classify::Category color_like;  // the category that has the same color
};
[[nodiscard]] const DeviceRowInfo& Info(DeviceRow row);
[[nodiscard]] model::Framework::Words WordsOf(DeviceRow row, const model::Framework& framework);

struct LibraryBytes {
  std::string library;  // file name
  DeviceRow row{};
  int64_t bytes = 0;
};

struct DeviceMemory {
  // Negative only if the trace contradicts itself, for example with blocks in unrecorded segments.
  std::array<int64_t, kDeviceRowCount> rows = {};
  // The driver's used bytes for the whole device: the sum of all rows. Empty if the driver had not been asked
  // yet. `unattributed` is then 0.
  std::optional<uint64_t> used;
  std::optional<uint64_t> capacity;
  std::vector<LibraryBytes> libraries;  // for the rows kUser and kManaged, largest first
  const model::Framework* framework = &model::PyTorch();

  [[nodiscard]] int64_t Of(DeviceRow row) const { return rows[static_cast<size_t>(row)]; }
  [[nodiscard]] int64_t Sum() const;
};

// The rows after event `at`, as `process` sees the device. `allocated`: the process's allocated bytes on the
// device. Nothing if no driver call was recorded for the device.
[[nodiscard]] std::optional<DeviceMemory> DeviceMemoryAfter(const model::Run& run,
                                                            model::ProcessIndex process, uint16_t device_code,
                                                            model::EventIndex at, uint64_t allocated);

}  // namespace vramscope::report
