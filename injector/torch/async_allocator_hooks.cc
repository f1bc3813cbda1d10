// SPDX-License-Identifier: Apache-2.0
// The recorded sizes are those that PyTorch requests: this allocator does not round. The driver decides how
// much the pool reserves; that is not known here.
//
//   libc10_cuda.so ──slot──► AsyncMalloc (here) ──► cudaMallocAsync of the libcudart.so.N that
//                                                   libc10_cuda needs
#include "injector/torch/async_allocator_hooks.h"

#include <string.h>

#include "injector/core/coverage.h"
#include "injector/core/elf_image.h"
#include "injector/core/slot_patcher.h"
#include "injector/torch/block_records.h"

namespace vramscope::injector {
namespace {

constexpr int kSuccess = 0;
constexpr int kOutOfMemory = 2;  // cudaErrorMemoryAllocation
constexpr int8_t kCuda = 1;      // c10::DeviceType
constexpr char kHookName[] = "cudaMallocAsync of libc10_cuda";

int AsyncMalloc(void** block, size_t bytes, void* stream);
int AsyncFree(void* block, void* stream);

enum : size_t { kMalloc, kFree, kGetDevice, kFunctions };
constinit Hook functions[kFunctions] = {
    {"cudaMallocAsync", kHookName, reinterpret_cast<void*>(&AsyncMalloc), nullptr, false},
    {"cudaFreeAsync", kHookName, reinterpret_cast<void*>(&AsyncFree), nullptr, false},
    {"cudaGetDevice", nullptr, nullptr, nullptr, false},  // only called, not replaced
};
constinit std::atomic<bool> watched = false;

template <typename Function>
Function* Real(size_t which) {
  return reinterpret_cast<Function*>(functions[which].found.load(std::memory_order_relaxed));
}

// PyTorch has made the block's device the current one.
DeviceValue CurrentDevice() {
  int device = 0;
  Real<int(int*)>(kGetDevice)(&device);
  return {kCuda, static_cast<int8_t>(device)};
}

int AsyncMalloc(void** block, size_t bytes, void* stream) {
  const int result = Real<int(void**, size_t, void*)>(kMalloc)(block, bytes, stream);
  if (!functions[kMalloc].proven.exchange(true, std::memory_order_relaxed))
    RecordCoverage(kHookName, trace::CoverageState::kProven, nullptr);
  if (bytes == 0 || !WantsBlocksOf(kCuda)) return result;
  if (result == kSuccess) RecordBlock(*block, bytes, CurrentDevice(), 0, 0);
  if (result == kOutOfMemory) RecordNoBlock(static_cast<int64_t>(bytes), CurrentDevice(), 0, 0);
  return result;
}

int AsyncFree(void* block, void* stream) {
  if (block != nullptr && WantsBlocksOf(kCuda)) RecordFreedBlock(block, 0, CurrentDevice(), 0, 0);
  return Real<int(void*, void*)>(kFree)(block, stream);
}

const char* FileName(const char* path) {
  const char* const slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

bool StartsWith(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

// Whether `image` is a CUDA runtime of the version that `user` was linked to.
bool IsRuntimeOf(const ElfImage& image, const ElfImage& user) {
  static constexpr char kRuntime[] = "libcudart.so.";
  const char* const name = FileName(image.name());
  if (!StartsWith(name, kRuntime)) return false;
  char versioned[sizeof(kRuntime) + 8];  // without what follows the major version
  const size_t major = sizeof(kRuntime) - 1 + strspn(name + sizeof(kRuntime) - 1, "0123456789");
  if (major >= sizeof(versioned)) return false;
  memcpy(versioned, name, major);
  versioned[major] = '\0';
  return user.Needs(versioned);
}

bool FindFunctions(const ElfImage& user) {
  ForEachImage(
      [](const ElfImage& image, void* of) {
        if (!IsRuntimeOf(image, *static_cast<const ElfImage*>(of))) return true;
        for (Hook& function : functions)
          function.found.store(image.Find(function.symbol), std::memory_order_relaxed);
        return false;
      },
      const_cast<ElfImage*>(&user));
  for (const Hook& function : functions) {
    if (function.found.load(std::memory_order_relaxed) == nullptr) return false;
  }
  return true;
}

// base() is 0 when it is not loaded.
ElfImage C10Cuda() {
  ElfImage c10_cuda;
  ForEachImage(
      [](const ElfImage& image, void* found) {
        if (!StartsWith(FileName(image.name()), "libc10_cuda.so")) return true;
        *static_cast<ElfImage*>(found) = image;
        return false;
      },
      &c10_cuda);
  return c10_cuda;
}

}  // namespace

void WatchAsyncAllocator() {
  const ElfImage c10_cuda = C10Cuda();
  if (c10_cuda.base() == 0 || watched.exchange(true, std::memory_order_relaxed)) return;
  if (!FindFunctions(c10_cuda)) return;
  if (PatchSlotsOf(c10_cuda, functions, kGetDevice) != 0)
    RecordCoverage(kHookName, trace::CoverageState::kHooked, nullptr);
}

void StopWatchingAsyncAllocator() {
  const ElfImage c10_cuda = C10Cuda();
  if (c10_cuda.base() == 0 || !watched.exchange(false, std::memory_order_relaxed)) return;
  RestoreSlotsOf(c10_cuda, functions, kGetDevice);
  for (Hook& function : functions) function.proven.store(false, std::memory_order_relaxed);
}

}  // namespace vramscope::injector
