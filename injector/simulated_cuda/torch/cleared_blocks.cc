// SPDX-License-Identifier: Apache-2.0
// Makes every block that PyTorch's allocators hand out read as zeros.
//
// On a GPU a kernel writes a block before anyone reads it. Here no kernel does. Host code that reads a result
// back (the count of nonzero) would read leftovers: 1,034,228,774 rows, measured. Only PyTorch's own report
// of each allocation shows a new owner of an address. It is called with or without a profiler.
//
// vramscope's recorder replaces the same function. Both definitions precede libc10.so's; the recorder's is
// preloaded first. Each passes the call on to the next definition, which for the recorder is this one.
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "injector/simulated_cuda/driver/private_calls.h"

namespace {

struct Device {  // c10::Device
  int8_t type;
  int8_t index;
};

using Clear = int (*)(void*, size_t);

void ClearBlock(void* block, int64_t bytes) {
  static const auto clear = reinterpret_cast<Clear>(dlsym(RTLD_DEFAULT, "vramscope_simulated_clear"));
  if (clear != nullptr && block != nullptr && bytes > 0) clear(block, static_cast<size_t>(bytes));
}

// PyTorch's own definition. RTLD_NEXT does not find it, because Python loads PyTorch's libraries with
// RTLD_LOCAL.
template <typename Report>
Report Real(std::atomic<void*>& known, const char* name) {
  void* found = known.load(std::memory_order_relaxed);
  if (found == nullptr) {
    void* const library = dlopen("libc10.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) known.store(found = dlsym(library, name), std::memory_order_relaxed);
  }
  return reinterpret_cast<Report>(found);
}

}  // namespace

namespace c10 {

// PyTorch 1.13 to 2.6; the totals became signed in later releases, under another mangled name.
SIMULATED_EXPORT void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void* block, int64_t bytes,
                                                                            size_t allocated, size_t reserved,
                                                                            Device device) {
  static std::atomic<void*> next;
  ClearBlock(block, bytes);
  using Report = void (*)(void*, int64_t, size_t, size_t, Device);
  if (const auto report = Real<Report>(next, __func__)) report(block, bytes, allocated, reserved, device);
}

SIMULATED_EXPORT void _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE(void* block, int64_t bytes,
                                                                            int64_t allocated,
                                                                            int64_t reserved, Device device) {
  static std::atomic<void*> next;
  ClearBlock(block, bytes);
  using Report = void (*)(void*, int64_t, int64_t, int64_t, Device);
  if (const auto report = Real<Report>(next, __func__)) report(block, bytes, allocated, reserved, device);
}

}  // namespace c10
