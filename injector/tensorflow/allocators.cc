// SPDX-License-Identifier: Apache-2.0
#include "injector/tensorflow/allocators.h"

#include <stdlib.h>
#include <string.h>

#include "injector/core/elf_image.h"
#include "trace_format/event.h"

namespace vramscope::injector::tensorflow {
namespace {

constexpr size_t kMostAllocators = 64;
constexpr int8_t kCpu = 0;
constexpr int8_t kCuda = 1;
constinit Allocator allocators[kMostAllocators] = {};

// A std::string of libstdc++, which the C++ ABI returns in memory of the caller.
struct String {
  char* data;
  size_t length;
  char small[16];
};

// tsl::AllocatorMemoryType
enum class MemoryType : int { kUnknown = 0, kDevice = 1, kHostPageable = 2, kHostPinned = 3 };

template <typename Function>
Function* Find(const char* symbol) {
  return reinterpret_cast<Function*>(FindSymbol(symbol));
}

// Copies tsl::BFCAllocator::Name() into `name`.
void CopyName(const void* object, char* name, size_t capacity) {
  name[0] = 0;
  auto* const ask = Find<void(String * result, const void* object)>("_ZN3tsl12BFCAllocator4NameB5cxx11Ev");
  if (ask == nullptr) return;
  String text = {};
  ask(&text, object);
  const size_t length = text.length < capacity ? text.length : capacity - 1;
  memcpy(name, text.data, length);
  name[length] = 0;
  auto* const release = Find<void(void*)>("_ZdlPv");
  if (text.data != text.small && release != nullptr) release(text.data);
}

// N of "GPU_N_bfc", or -1.
int NumberInName(const char* name) {
  if (strncmp(name, "GPU_", 4) != 0 || name[4] < '0' || name[4] > '9') return -1;
  return atoi(name + 4);
}

void Describe(Allocator& allocator, const void* object) {
  char name[64];
  CopyName(object, name, sizeof name);
  auto* const ask = Find<MemoryType(const void*)>("_ZNK3tsl12BFCAllocator13GetMemoryTypeEv");
  const MemoryType type = ask == nullptr ? MemoryType::kUnknown : ask(object);
  const int number = NumberInName(name);
  const bool is_device = number >= 0 && (type == MemoryType::kDevice || type == MemoryType::kUnknown);
  allocator.device_type = is_device ? kCuda : kCpu;
  allocator.device_index = static_cast<int8_t>(is_device ? number : -1);
  allocator.is_tensor_memory =
      is_device || (type != MemoryType::kHostPinned && strncmp(name, "gpu_host", 8) != 0);
}

// An entry that a thread is still describing.
const void* const kBeingDescribed = &allocators;

}  // namespace

uint16_t Allocator::DeviceCode() const {
  return static_cast<uint16_t>(
      trace::DeviceCode(static_cast<uint8_t>(device_type), static_cast<uint8_t>(device_index)));
}

Allocator* AllocatorOf(void* object) {
  for (Allocator& allocator : allocators) {
    const void* known = allocator.object.load(std::memory_order_acquire);
    if (__builtin_expect(known == object, 1)) return &allocator;
    if (known != nullptr) continue;
    if (!allocator.object.compare_exchange_strong(known, kBeingDescribed)) continue;
    Describe(allocator, object);
    allocator.object.store(object, std::memory_order_release);
    return &allocator;
  }
  return nullptr;
}

uint64_t BlockBytes(const void* allocator, const void* block, uint64_t requested) {
  using Ask = size_t(const void* allocator, const void* block);
  static constinit std::atomic<Ask*> known = nullptr;
  Ask* ask = known.load(std::memory_order_relaxed);
  if (__builtin_expect(ask == nullptr, 0)) {
    ask = Find<Ask>("_ZNK3tsl12BFCAllocator13AllocatedSizeEPKv");
    if (ask == nullptr) return requested;
    known.store(ask, std::memory_order_relaxed);
  }
  const uint64_t bytes = ask(allocator, block);
  return bytes < requested ? requested : bytes;
}

// tsl::AllocatorStats begins with the number of allocations and the bytes in use. It is returned in memory of
// the caller, in a std::optional: 120 bytes in 2.21.
uint64_t BytesInUse(void* allocator) {
  alignas(16) uint64_t statistics[64] = {};
  auto* const ask = Find<void(void* result, void* allocator)>("_ZN3tsl12BFCAllocator8GetStatsEv");
  if (ask == nullptr) return 0;
  ask(statistics, allocator);
  return statistics[1];
}

}  // namespace vramscope::injector::tensorflow
