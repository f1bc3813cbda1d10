// SPDX-License-Identifier: Apache-2.0
// A libc10.so that contains only the functions that PyTorch's CPU allocator reports to. A target of a few
// kilobytes is then recorded exactly like a PyTorch program, and starts in a millisecond.
#include <cstddef>

namespace c10 {

// Same names, and so the same symbols, as in c10/core/CPUAllocator.h of PyTorch.
class ProfiledCPUMemoryReporter {
 public:
  void New(void* address, size_t bytes);
  void Delete(void* address);
};

void ProfiledCPUMemoryReporter::New(void*, size_t) {}
void ProfiledCPUMemoryReporter::Delete(void*) {}

}  // namespace c10
