// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/loaded_functions.h"

#include <cstddef>

#include "injector/core/hot.h"
#include "injector/cuda/driver_questions.h"

namespace vramscope::injector {
namespace {

// PyTorch 2.15 has 24,114 kernels for one architecture; a program launches some hundreds of them.
constexpr size_t kSlots = 1 << 14;
constexpr size_t kMostProbes = 8;
constinit std::atomic<uint64_t> loaded[kSlots] = {};  // 0 = free

constexpr uint32_t kQuietLookups = 1024;
constinit std::atomic<uint32_t> quiet_lookups = 0;

constexpr int kNone = -1, kSeveral = -2;
VRAMSCOPE_HOT constinit std::atomic<int> device_with_context = kNone;

// Never 0 for a handle that is not null.
uint64_t KeyOf(driver::Handle function) {
  const auto number = reinterpret_cast<uint64_t>(function);
  if (__builtin_expect(device_with_context.load(std::memory_order_relaxed) != kSeveral, 1)) return number;
  return number ^ static_cast<uint64_t>(CurrentDevice() + 2) << 56;
}

size_t SlotOf(uint64_t key) { return key * 0x9E3779B97F4A7C15 >> 50; }
static_assert(kSlots == size_t{1} << (64 - 50));

}  // namespace

void NoteContextOn(int device) {
  int known = kNone;
  if (device_with_context.compare_exchange_strong(known, device) || known == device) return;
  device_with_context.store(kSeveral, std::memory_order_relaxed);
}

bool IsLoaded(driver::Handle function) {
  const uint64_t key = KeyOf(function);
  size_t slot = SlotOf(key);
  for (size_t i = 0; i < kMostProbes; ++i, slot = (slot + 1) % kSlots) {
    const uint64_t holder = loaded[slot].load(std::memory_order_relaxed);
    if (holder == key) return true;
    if (holder == 0) return false;
  }
  return true;
}

void NoteLoaded(driver::Handle function) {
  const uint64_t key = KeyOf(function);
  size_t slot = SlotOf(key);
  for (size_t i = 0; i < kMostProbes; ++i, slot = (slot + 1) % kSlots) {
    uint64_t holder = 0;
    if (loaded[slot].compare_exchange_strong(holder, key, std::memory_order_relaxed) || holder == key) return;
  }
}

bool LookupsLoadNothing() { return quiet_lookups.load(std::memory_order_relaxed) >= kQuietLookups; }

void NoteLookup(bool has_loaded) {
  if (has_loaded) {
    quiet_lookups.store(0, std::memory_order_relaxed);
  } else {
    quiet_lookups.fetch_add(1, std::memory_order_relaxed);
  }
}

void ForgetLoaded() {
  quiet_lookups.store(0, std::memory_order_relaxed);
  for (std::atomic<uint64_t>& slot : loaded) slot.store(0, std::memory_order_relaxed);
}

}  // namespace vramscope::injector
