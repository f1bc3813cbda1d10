// SPDX-License-Identifier: Apache-2.0
// Reads the ledgers of the simulated GPU: how much device memory each library and each call took in a dry
// run.
//
// Each process writes a ledger of its own calls when it ends. In addition, all processes maintain one table
// with the highest memory use of each device by all processes (trace_format/device_use.h). A killed process
// is only in the table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::experiment {

struct LedgerEntry {
  std::string library;  // "libc10_cuda.so"; "" = the driver itself
  std::string call;     // "cudaMalloc", "context"
  uint64_t peak_bytes = 0;
  std::string basis = "exact";  // or "measured", "derived", "given", "modeled"
  uint64_t low_bytes = 0;       // lower end of the range of `peak_bytes` on a real GPU
  uint64_t high_bytes = 0;      // upper end of this range
};

// One process's share of a device at the device's peak.
struct ProcessShare {
  uint32_t pid = 0;
  uint64_t bytes = 0;
};

struct DeviceLedger {
  int device = 0;
  uint64_t capacity_bytes = 0;
  uint64_t peak_bytes = 0;     // most bytes that all processes used at one time
  uint64_t missing_bytes = 0;  // bytes that the last refused request lacked; 0 = no request was refused
  uint64_t refusals = 0;       // number of refused requests of all processes
  // The last refused call if it did not come from PyTorch's allocator: "ring" for NCCL, "kernels". Empty if
  // there is no such call.
  std::string refused_beside;
  std::vector<ProcessShare> processes;  // use of each process at the peak; empty = unknown
  // Each entry has its own peak, summed over processes. Killed processes are missing.
  std::vector<LedgerEntry> entries;
};

// Returns each used device, ordered by number. Reads the ledgers, which are all "*.json" files in `folder`,
// and the table in `shared_file`. Skips files that cannot be read. `capacity_bytes`: the capacity of a device
// that is only in the table.
std::vector<DeviceLedger> ReadDeviceLedgers(const std::string& folder, const std::string& shared_file,
                                            uint64_t capacity_bytes);

// Returns the ledger with the highest peak. If `ledgers` is empty, returns a ledger with a capacity of 0.
DeviceLedger Fullest(const std::vector<DeviceLedger>& ledgers);

}  // namespace vramscope::experiment
