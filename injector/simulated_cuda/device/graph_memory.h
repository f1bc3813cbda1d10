// SPDX-License-Identifier: Apache-2.0
// The memory of allocation nodes in CUDA graphs. A node gets its address when it is created, and its memory
// when it is first launched. As CUDA documents, only a trim (cuDeviceGraphMemTrim) gives memory back to the
// device.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "injector/simulated_cuda/device/ledger.h"

namespace vramscope::simulated {

// CUgraphMem_attribute.
enum class GraphMemoryAttribute : int { kUsed = 0, kUsedHigh = 1, kReserved = 2, kReservedHigh = 3 };

class GraphMemory {
 public:
  int Add(int device, uint64_t bytes, uint64_t* address);
  // Call Use when a graph launch reaches the node that allocates `address`, and Unuse when it reaches the
  // node that frees `address`. Both return a CUDA error code.
  int Use(uint64_t address, const Origin& origin);
  int Unuse(uint64_t address);
  void Trim(int device);
  uint64_t Get(int device, GraphMemoryAttribute attribute);

 private:
  struct Block {
    int device;
    uint64_t bytes;
    LedgerRow* row = nullptr;  // nullptr = the node has no memory yet, or lost it by a trim
    bool used = false;
  };

  std::mutex mutex_;
  std::map<uint64_t, Block> blocks_;
};

GraphMemory& TheGraphMemory();

}  // namespace vramscope::simulated
