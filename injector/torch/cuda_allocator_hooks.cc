// SPDX-License-Identifier: Apache-2.0
// The allocator is a class in one file of libc10_cuda, and none of its functions is exported. The pointer to
// its only object is exported. The object's vtable begins the same in all releases since 2.0: two
// destructors, then `DataPtr allocate(size_t)`.
//
//   CUDACachingAllocator::allocator ──► object ──► vtable   -1 type ──► "N3c104cuda20CUDACaching...E"
//                                                            0 1 destructors
//                                                            2 allocate   ◄── ours; calls on
//
// The name of the type is compared first: another allocator (cudaMallocAsync, a plugin, a new class) is left
// alone. Requests that take another path (raw_alloc, for thrust) stay unknown.
#include "injector/torch/cuda_allocator_hooks.h"

#include <string.h>

#include "injector/core/coverage.h"
#include "injector/core/elf_image.h"
#include "injector/core/slot_patcher.h"
#include "injector/torch/hook_table.h"

namespace vramscope::injector {

constinit thread_local CudaRequest cuda_request __attribute__((tls_model("initial-exec"))) = {0, 0};

namespace {

constexpr char kHookName[] = "requests to PyTorch's CUDA allocator";
constexpr char kAllocator[] = "_ZN3c104cuda20CUDACachingAllocator9allocatorE";
constexpr char kType[] = "N3c104cuda20CUDACachingAllocator6Native22NativeCachingAllocatorE";
constexpr size_t kAllocateSlot = 2;

// c10::cuda::CUDAStream: a c10::Stream, which travels in two registers.
struct StreamValue {
  uint64_t device;
  int64_t id;
};
using Allocate = DataPointer(void* allocator, size_t bytes);
using CurrentStream = StreamValue(int8_t device);
using StreamHandle = uint64_t(const StreamValue* stream);

constinit std::atomic<Allocate*> real_allocate = nullptr;
constinit std::atomic<CurrentStream*> current_stream = nullptr;
constinit std::atomic<StreamHandle*> stream_handle = nullptr;
constinit std::atomic<bool> proven = false;

// An exception leaves the request in place: RecordNoBlock forgets it, and so does the next request.
DataPointer AllocateCuda(void* allocator, size_t bytes) {
  if (!proven.load(std::memory_order_relaxed) && !proven.exchange(true, std::memory_order_relaxed))
    RecordCoverage(kHookName, trace::CoverageState::kProven, nullptr);
  const StreamValue stream = current_stream.load(std::memory_order_relaxed)(-1);
  cuda_request = {bytes, stream_handle.load(std::memory_order_relaxed)(&stream)};
  DataPointer block = real_allocate.load(std::memory_order_relaxed)(allocator, bytes);
  cuda_request.bytes = 0;
  return block;
}

// The slot with the address of `allocate`, or nullptr.
void** FindAllocateSlot(const ElfImage& image) {
  auto* const pointer = static_cast<void** const*>(image.Find(kAllocator));
  if (pointer == nullptr) return nullptr;
  void** const object = __atomic_load_n(pointer, __ATOMIC_ACQUIRE);
  if (object == nullptr || !image.Contains(object)) return nullptr;
  void** const vtable = static_cast<void**>(*object);
  if (!image.Contains(vtable - 1) || !image.Contains(vtable + kAllocateSlot)) return nullptr;
  auto* const type = static_cast<const char* const*>(vtable[-1]);
  if (!image.Contains(type + 1) || !image.Contains(type[1]) || strcmp(type[1], kType) != 0) return nullptr;
  return vtable + kAllocateSlot;
}

template <typename Visit>
void InC10Cuda(Visit visit) {
  ForEachImage(
      [](const ElfImage& image, void* argument) {
        if (image.Find(kAllocator) == nullptr) return true;
        (*static_cast<Visit*>(argument))(image);
        return false;
      },
      &visit);
}

template <typename Function>
bool Know(const ElfImage& image, const char* symbol, std::atomic<Function*>& function) {
  function.store(reinterpret_cast<Function*>(image.Find(symbol)), std::memory_order_relaxed);
  return function.load(std::memory_order_relaxed) != nullptr;
}

}  // namespace

void WatchCudaAllocator() {
  bool watched = false;
  InC10Cuda([&watched](const ElfImage& image) {
    void** const slot = FindAllocateSlot(image);
    if (slot == nullptr || *slot == reinterpret_cast<void*>(&AllocateCuda) || !image.Contains(*slot)) return;
    if (!Know(image, "_ZN3c104cuda20getCurrentCUDAStreamEa", current_stream)) return;
    if (!Know(image, "_ZNK3c104cuda10CUDAStream6streamEv", stream_handle)) return;
    real_allocate.store(reinterpret_cast<Allocate*>(*slot), std::memory_order_release);
    watched = StoreInSlot(image, slot, reinterpret_cast<void*>(&AllocateCuda));
  });
  if (watched) RecordCoverage(kHookName, trace::CoverageState::kHooked, nullptr);
}

void StopWatchingCudaAllocator() {
  InC10Cuda([](const ElfImage& image) {
    void** const slot = FindAllocateSlot(image);
    if (slot == nullptr || *slot != reinterpret_cast<void*>(&AllocateCuda)) return;
    StoreInSlot(image, slot, reinterpret_cast<void*>(real_allocate.load(std::memory_order_acquire)));
  });
  proven.store(false, std::memory_order_relaxed);
}

}  // namespace vramscope::injector
