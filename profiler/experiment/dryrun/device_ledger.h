// SPDX-License-Identifier: Apache-2.0
// The simulated device's records of a run: which library or call took how much memory.
//
// Every process writes a ledger of its own calls when it ends. All processes together maintain a table with
// the highest simultaneous use of each device (trace_format/device_use.h). Only the table includes killed
// processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::experiment {

struct LedgerEntry {
  std::string library;  // "libc10_cuda.so"; "" = the driver itself
  std::string call;     // "cudaMalloc", "context"
  uint64_t peak_bytes = 0;
  std::string basis = "exact";  // others: "measured", "derived", "given", "modeled"
  uint64_t low_bytes = 0;       // range on a real GPU, for `peak_bytes`
  uint64_t high_bytes = 0;
};

// One process's share of a device at the device's peak.
struct ProcessShare {
  uint32_t pid = 0;
  uint64_t bytes = 0;
};

struct DeviceLedger {
  int device = 0;
  uint64_t capacity_bytes = 0;
  uint64_t peak_bytes = 0;     // of all processes together, at one time
  uint64_t missing_bytes = 0;  // of the last refused request; 0 = none
  uint64_t refusals = 0;       // of all processes
  // The refused call, if it did not come from PyTorch's allocator: "ring" for NCCL, "kernels". Otherwise
  // empty.
  std::string refused_beside;
  std::vector<ProcessShare> processes;  // at the peak; empty = unknown
  // Each entry has its own peak, summed over processes. Without killed processes.
  std::vector<LedgerEntry> entries;
};

// Every used device, by number: from all "*.json" in `folder` and the table in `shared_file`. Unreadable
// files are skipped. `capacity_bytes` is used for devices without any ledger.
std::vector<DeviceLedger> ReadDeviceLedgers(const std::string& folder, const std::string& shared_file,
                                            uint64_t capacity_bytes);

// The ledger with the highest peak. If there are no ledgers, its capacity is 0.
DeviceLedger Fullest(const std::vector<DeviceLedger>& ledgers);

}  // namespace vramscope::experiment
