// SPDX-License-Identifier: Apache-2.0
// What the simulated device wrote down when the processes of a run ended: its ground truth of who took
// memory.
//
// Every process has a device of its own, so several ledgers are several answers, and the fullest one counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::cli {

struct LedgerEntry {
  std::string library;  // "libc10_cuda.so"; "" = the driver itself
  std::string call;     // "cudaMalloc", "context"
  uint64_t peak_bytes = 0;
};

struct DeviceLedger {
  uint64_t capacity_bytes = 0;
  uint64_t peak_bytes = 0;
  uint64_t missing_bytes = 0;  // for the last request that was turned down; 0 = none was
  std::vector<LedgerEntry> entries;
};

// The fullest device of all "*.json" in `folder`. A file that cannot be read counts as absent: its process
// was killed while writing.
DeviceLedger FullestDevice(const std::string& folder);

}  // namespace vramscope::cli
