// SPDX-License-Identifier: Apache-2.0
// Host memory that CUDA allocated or registered, for queries about pointers.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace vramscope::simulated {

class HostMemory {
 public:
  // Page-aligned memory of zeros, not yet touched. nullptr if the process may have no more memory.
  void* Allocate(uint64_t bytes);
  // False if it was not allocated here.
  bool Free(void* memory);
  // False if a known range already begins there.
  bool Register(void* memory, uint64_t bytes);
  // False if the range was not registered.
  bool Unregister(void* memory);
  // The known range that contains the address; false if there is none.
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
