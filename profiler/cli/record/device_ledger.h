// SPDX-License-Identifier: Apache-2.0
// What the simulated device wrote down about a run: its ground truth of who took memory.
//
// Two sources: every process leaves the ledger of its own calls when it ends, and all together keep one table
// of what each device had to hold at most at one time (trace_format/device_use.h), which also knows of
// processes that were killed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::cli {

struct LedgerEntry {
  std::string library;  // "libc10_cuda.so"; "" = the driver itself
  std::string call;     // "cudaMalloc", "context"
  uint64_t peak_bytes = 0;
  std::string basis = "exact";  // or how the figure is known: "measured", "derived", "given", "modelled"
  uint64_t low_bytes = 0;       // what a GPU takes at least and at most where the device takes `peak_bytes`
  uint64_t high_bytes = 0;
};

// What one process had of a device when the device's use was at its peak.
struct ProcessShare {
  uint32_t pid = 0;
  uint64_t bytes = 0;
};

struct DeviceLedger {
  int device = 0;
  uint64_t capacity_bytes = 0;
  uint64_t peak_bytes = 0;     // of all processes together, at one time
  uint64_t missing_bytes = 0;  // for the last request that was turned down; 0 = none was
  uint64_t refusals = 0;       // requests that were turned down, by all processes
  // The call of that request where it was not PyTorch's allocator that asked, which would have said so
  // itself: "ring" of NCCL, "kernels". Else empty.
  std::string refused_beside;
  std::vector<ProcessShare> processes;  // at the peak; empty = unknown
  // Each with its own peak: with several processes, the sum of theirs. Nothing of processes that were killed.
  std::vector<LedgerEntry> entries;
};

// Every device that a process has used, by number: from all "*.json" in `folder` and the table in
// `shared_file`. A file that cannot be read counts as absent: its process was killed while writing.
// `capacity_bytes` is that of devices whose users left no ledger, for all were killed.
std::vector<DeviceLedger> ReadDeviceLedgers(const std::string& folder, const std::string& shared_file,
                                            uint64_t capacity_bytes);

// The one with the highest peak; one without capacity when there is none.
DeviceLedger Fullest(const std::vector<DeviceLedger>& ledgers);

}  // namespace vramscope::cli
