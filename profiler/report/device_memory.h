// SPDX-License-Identifier: Apache-2.0
// What a device's memory is made of at a moment, as a reader of reports wants it: the tensors, and everything
// between them and what nvidia-smi shows.
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
#include "profiler/model/run.h"

namespace vramscope::report {

enum class DeviceRow : uint8_t {
  kAllocated,  // blocks that the caching allocator has handed out
  kCached,     // free inside its segments
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
  const char* name;               // for people: "PyTorch, cached"
  const char* clause;             // behind a number: "are cached by PyTorch"
  classify::Category color_like;  // the category whose colour it has
};
[[nodiscard]] const DeviceRowInfo& Info(DeviceRow row);

struct LibraryBytes {
  std::string library;  // file name
  DeviceRow row{};
  int64_t bytes = 0;
};

struct DeviceMemory {
  // A row is below 0 only where the trace contradicts itself: blocks in segments that were not seen to come,
  // or more taken than the driver counts.
  std::array<int64_t, kDeviceRowCount> rows = {};
  // Of the whole device, as the driver says; the sum of all rows. Empty when it was never asked before this
  // moment: then `unattributed` is 0 and the rows are what was seen.
  std::optional<uint64_t> used;
  std::optional<uint64_t> capacity;
  std::vector<LibraryBytes> libraries;  // of the rows kUser and kManaged, largest first

  [[nodiscard]] int64_t Of(DeviceRow row) const { return rows[static_cast<size_t>(row)]; }
  [[nodiscard]] int64_t Sum() const;
};

// After event `at`, seen from `process`, whose allocator has handed out `allocated` bytes there. Nothing when
// no call of the driver was recorded for that device.
[[nodiscard]] std::optional<DeviceMemory> DeviceMemoryAfter(const model::Run& run,
                                                            model::ProcessIndex process, uint16_t device_code,
                                                            model::EventIndex at, uint64_t allocated);

}  // namespace vramscope::report
