// SPDX-License-Identifier: Apache-2.0
// The simulated device's records of a run: the ground truth of who took memory.
//
// Two sources: every process writes a ledger of its own calls when it ends. All processes together maintain a
// table with the highest simultaneous use of each device (trace_format/device_use.h). The table also includes
// processes that were killed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::experiment {

struct LedgerEntry {
  std::string library;  // "libc10_cuda.so"; "" = the driver itself
  std::string call;     // "cudaMalloc", "context"
  uint64_t peak_bytes = 0;
  std::string basis = "exact";  // how the figure is known; others: "measured", "derived", "given", "modeled"
  uint64_t low_bytes = 0;       // lowest and highest use of a real GPU, for `peak_bytes`
  uint64_t high_bytes = 0;
};

// One process's share of a device at the peak of the device's use.
struct ProcessShare {
  uint32_t pid = 0;
  uint64_t bytes = 0;
};

struct DeviceLedger {
  int device = 0;
  uint64_t capacity_bytes = 0;
  uint64_t peak_bytes = 0;     // of all processes together, at one time
  uint64_t missing_bytes = 0;  // for the last refused request; 0 = none was refused
  uint64_t refusals = 0;       // refused requests of all processes
  // The call that was refused, if it did not come from PyTorch's allocator, which would have reported it:
  // "ring" for NCCL, "kernels". Otherwise empty.
  std::string refused_beside;
  std::vector<ProcessShare> processes;  // at the peak; empty = unknown
  // Each entry has its own peak; with several processes, the sum of their peaks. Processes that were killed
  // are not included.
  std::vector<LedgerEntry> entries;
};

// Every device that a process used, by number: from all "*.json" in `folder` and the table in `shared_file`.
// An unreadable file counts as absent: its process was killed while writing. `capacity_bytes` is used for
// devices without any ledger, because all their users were killed.
std::vector<DeviceLedger> ReadDeviceLedgers(const std::string& folder, const std::string& shared_file,
                                            uint64_t capacity_bytes);

// The ledger with the highest peak; an empty one (capacity 0) if there are none.
DeviceLedger Fullest(const std::vector<DeviceLedger>& ledgers);

}  // namespace vramscope::experiment
