// SPDX-License-Identifier: Apache-2.0
#include "injector/nvtx/describe_blocks.h"

#include <pthread.h>
#include <string.h>

#include "injector/core/coverage.h"
#include "injector/core/hook.h"
#include "injector/core/hot.h"
#include "injector/core/options.h"
#include "injector/core/slot_patcher.h"
#include "injector/nvtx/abi.h"
#include "injector/nvtx/chain.h"

namespace vramscope::injector::nvtx {

VRAMSCOPE_HOT constinit std::atomic<bool> describing_blocks = false;

namespace {

constexpr char kHook[] = "NVTX memory for another tool";
constexpr char kHeapName[] = "PyTorch segment";
constexpr uint16_t kNvtxVersion = 3;
constexpr size_t kMostSegments = 4096;  // more are described as regions of the process alone

// The functions that the tool installed.
constinit intptr_t slots[kMemorySlots] = {};

template <typename Function>
Function* Tool(MemoryFunction position) {
  const intptr_t slot = slots[position];
  return slot > kLastStateOfSlot ? reinterpret_cast<Function*>(slot) : nullptr;
}

struct Segment {
  const char* begin;
  size_t bytes;
  Handle heap;
};

// Under the lock; sorted by address.
constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
constinit Segment segments[kMostSegments] = {};
constinit size_t segment_count = 0;

// The index of the first segment that begins after `address`.
size_t PlaceBehind(const char* address) {
  size_t low = 0;
  size_t high = segment_count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    (segments[middle].begin <= address ? low : high) =
        segments[middle].begin <= address ? middle + 1 : middle;
  }
  return low;
}

Handle HeapOf(const char* address) {
  pthread_mutex_lock(&lock);
  const size_t place = PlaceBehind(address);
  Handle heap = kProcessWideHeap;
  if (place > 0 && address < segments[place - 1].begin + segments[place - 1].bytes)
    heap = segments[place - 1].heap;
  pthread_mutex_unlock(&lock);
  return heap;
}

Handle RegisterHeap(const void* begin, size_t bytes) {
  auto* const tell = Tool<Handle(Domain, const HeapDescription*)>(kHeapRegister);
  if (tell == nullptr) return kProcessWideHeap;
  const VirtualRange range = {bytes, begin};
  HeapDescription heap = {};
  heap.compatibility = kMemoryCompatibility;
  heap.struct_size = sizeof heap;
  heap.usage = kSubAllocator;
  heap.type = kVirtualAddress;
  heap.type_specific_size = sizeof range;
  heap.type_specific = &range;
  heap.message_type = kAscii;
  heap.message.ascii = kHeapName;
  return tell(nullptr, &heap);
}

void AddSegment(const void* address, size_t bytes) {
  const Handle heap = RegisterHeap(address, bytes);
  if (heap == kProcessWideHeap) return;
  const auto* const begin = static_cast<const char*>(address);
  pthread_mutex_lock(&lock);
  if (segment_count < kMostSegments) {
    const size_t place = PlaceBehind(begin);
    memmove(&segments[place + 1], &segments[place], (segment_count - place) * sizeof(Segment));
    segments[place] = {begin, bytes, heap};
    ++segment_count;
  }
  pthread_mutex_unlock(&lock);
}

void RemoveSegment(const void* address) {
  const auto* const begin = static_cast<const char*>(address);
  Handle heap = kProcessWideHeap;
  pthread_mutex_lock(&lock);
  const size_t place = PlaceBehind(begin);
  if (place > 0 && segments[place - 1].begin == begin) {
    heap = segments[place - 1].heap;
    memmove(&segments[place - 1], &segments[place], (segment_count - place) * sizeof(Segment));
    --segment_count;
  }
  pthread_mutex_unlock(&lock);
  auto* const tell = Tool<void(Domain, Handle)>(kHeapUnregister);
  if (heap != kProcessWideHeap && tell != nullptr) tell(nullptr, heap);
}

int Malloc(void** memory, size_t bytes);
int Free(void* memory);

Hook runtime_hooks[] = {
    {"cudaMalloc", "cudaMalloc", reinterpret_cast<void*>(Malloc), nullptr, false},
    {"cudaFree", "cudaFree", reinterpret_cast<void*>(Free), nullptr, false},
};

int Malloc(void** memory, size_t bytes) {
  const auto real =
      reinterpret_cast<int (*)(void**, size_t)>(runtime_hooks[0].found.load(std::memory_order_relaxed));
  const int result = real(memory, bytes);
  if (result == 0 && bytes != 0) AddSegment(*memory, bytes);
  return result;
}

int Free(void* memory) {
  const auto real = reinterpret_cast<int (*)(void*)>(runtime_hooks[1].found.load(std::memory_order_relaxed));
  if (memory != nullptr) RemoveSegment(memory);
  return real(memory);
}

// Only the calls of PyTorch's allocator: cudaMalloc calls of others are not segments.
bool WatchSegments() {
  FindRealFunctions(runtime_hooks, 2);
  if (runtime_hooks[0].found.load() == nullptr || runtime_hooks[1].found.load() == nullptr) return false;
  bool patched = false;
  ForEachImage(
      [](const ElfImage& image, void* argument) {
        if (strstr(image.name(), "libc10_cuda.so") == nullptr) return true;
        *static_cast<bool*>(argument) = PatchSlotsOf(image, runtime_hooks, 2) != 0;
        return false;
      },
      &patched);
  return patched;
}

bool AskToListen() {
  const auto initialize =
      reinterpret_cast<InitializeExtension>(FindInNext("InitializeInjectionNvtxExtension"));
  if (initialize == nullptr) return false;
  ExtensionSegment segment = {kMemorySegment, kMemorySlots, slots};
  ExtensionModule module = {};
  module.nvtx_version = kNvtxVersion;
  module.struct_size = sizeof module;
  module.module = kMemoryModule;
  module.compatibility = kMemoryCompatibility;
  module.segment_count = 1;
  module.segments = &segment;
  return initialize(&module) != 0 &&
         Tool<void(Domain, const RegionsRegister*)>(kRegionsRegister) != nullptr &&
         Tool<void(Domain, const RegionsUnregister*)>(kRegionsUnregister) != nullptr;
}

}  // namespace

void StartDescribingBlocks() {
  static constinit std::atomic<bool> begun = false;
  if (!OptionIs("emit_nvtx_mem", "on") || begun.exchange(true)) return;
  if (!AskToListen()) {
    const bool alone = NextPath()[0] == 0;
    return RecordCoverage(kHook, trace::CoverageState::kMissing,
                          alone ? "NVTX_INJECTION64_PATH names no other tool"
                                : "the other tool does not listen to named memory");
  }
  const bool segments_watched = WatchSegments();
  describing_blocks.store(true, std::memory_order_release);
  RecordCoverage(kHook, trace::CoverageState::kHooked,
                 segments_watched ? "segments and blocks" : "blocks only");
}

void DescribeBlock(const void* block, uint64_t bytes) {
  const VirtualRange range = {bytes, block};
  RegionsRegister batch = {};
  batch.compatibility = kMemoryCompatibility;
  batch.struct_size = sizeof batch;
  batch.type = kVirtualAddress;
  batch.heap = HeapOf(static_cast<const char*>(block));
  batch.count = 1;
  batch.element_size = sizeof range;
  batch.elements = &range;
  Tool<void(Domain, const RegionsRegister*)>(kRegionsRegister)(nullptr, &batch);
}

void DescribeFreedBlock(const void* block) {
  RegionsUnregister batch = {};
  batch.compatibility = kMemoryCompatibility;
  batch.struct_size = sizeof batch;
  batch.reference_type = kByPointer;
  batch.count = 1;
  batch.element_size = sizeof block;
  batch.elements = &block;
  Tool<void(Domain, const RegionsUnregister*)>(kRegionsUnregister)(nullptr, &batch);
}

}  // namespace vramscope::injector::nvtx
