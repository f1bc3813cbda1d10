// SPDX-License-Identifier: Apache-2.0
// Host memory that the program allocated through CUDA (cudaMallocHost) or registered (cudaHostRegister).
// Pointer queries (cudaPointerGetAttributes) search it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace vramscope::simulated {

class HostMemory {
 public:
  // Returns page-aligned memory filled with zeros, whose pages are not in use yet. nullptr if the system
  // refuses more memory.
  void* Allocate(uint64_t bytes);
  // False if `memory` was not returned by Allocate().
  bool Free(void* memory);
  // False if an allocated or registered range already begins at `memory`.
  bool Register(void* memory, uint64_t bytes);
  // False if the range was not registered.
  bool Unregister(void* memory);
  // Finds the allocated or registered range that contains `memory`; false if there is none.
  bool Find(const void* memory, uint64_t* begin, uint64_t* bytes);

 private:
  struct Range {
    uint64_t bytes;
    bool allocated;
  };

  std::mutex mutex_;
  std::map<uint64_t, Range> ranges_;
};

HostMemory& TheHostMemory();

}  // namespace vramscope::simulated
