// SPDX-License-Identifier: Apache-2.0
// A pool of stream-ordered memory (cudaMallocAsync). The pool takes chunks from the device and divides them
// into allocations.
//
// Chunks are multiples of 32 MiB. Requests are rounded to 512 bytes. The pool gives empty chunks back to the
// device while more bytes are reserved than the release threshold. The counters follow NVIDIA's
// documentation. The chunk size is an assumption.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "injector/simulated_cuda/device/address_space.h"
#include "injector/simulated_cuda/device/ledger.h"

namespace vramscope::simulated {

// CUmemPool_attribute.
enum class PoolAttribute : int {
  kReleaseThreshold = 4,
  kReserved = 5,
  kReservedHigh = 6,
  kUsed = 7,
  kUsedHigh = 8,
};

class MemoryPool {
 public:
  explicit MemoryPool(int device) : device_(device) {}

  int Allocate(uint64_t bytes, const Origin& origin, uint64_t* address);
  // Returns kInvalidValue if no allocation of this pool begins at `address`.
  int Free(uint64_t address);
  // Gives empty chunks back to the device until at most `keep` bytes are reserved.
  void Trim(uint64_t keep);
  // Finds the allocation that contains `address`. Returns false if there is none.
  bool Find(uint64_t address, uint64_t* begin, uint64_t* bytes);

  uint64_t Get(PoolAttribute attribute);
  void Set(PoolAttribute attribute, uint64_t value);
  [[nodiscard]] int device() const { return device_; }

 private:
  struct Chunk {
    uint64_t bytes;
    AddressSpace free;
  };

  uint64_t TakeFromChunks(uint64_t bytes);
  void TrimLocked(uint64_t keep);

  int device_;
  std::mutex mutex_;
  std::map<uint64_t, Chunk> chunks_;
  std::map<uint64_t, uint64_t> allocations_;  // address -> rounded bytes
  uint64_t release_threshold_ = 0;
  uint64_t reserved_ = 0, reserved_high_ = 0;
  uint64_t used_ = 0, used_high_ = 0;
};

}  // namespace vramscope::simulated
