// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/caller.h"

#include <unwind.h>

#include <atomic>

#include "injector/core/elf_image.h"
#include "injector/core/intern.h"
#include "injector/cuda/loaded_object.h"

namespace vramscope::injector {
namespace {

// The objects seen so far; an entry is complete once `path` is set. Entries are only added. An object at the
// addresses of an unloaded one has another path, and gets an entry of its own.
struct Known {
  std::atomic<uintptr_t> begin;
  std::atomic<const char*> path;
  std::atomic<uint32_t> name;
  std::atomic<bool> is_runtime;
};
constexpr size_t kMostKnown = 256;
constexpr size_t kMostProbes = 8;
constinit Known known_objects[kMostKnown] = {};

struct Caller {
  uint32_t name;
  bool is_runtime;
};

Caller DescribeAnew(const LoadedObject& object) {
  return {InternString(ObjectName(object)), IsNamed(object, "libcudart.so.")};
}

Caller Describe(const LoadedObject& object) {
  const size_t first = (object.begin >> 12) * 0x9E3779B97F4A7C15 >> 56;
  static_assert(kMostKnown == 256);
  for (size_t i = 0; i < kMostProbes; ++i) {
    Known& entry = known_objects[(first + i) % kMostKnown];
    uintptr_t holder = entry.begin.load(std::memory_order_relaxed);
    if (holder == object.begin && entry.path.load(std::memory_order_acquire) == object.path)
      return {entry.name.load(std::memory_order_relaxed), entry.is_runtime.load(std::memory_order_relaxed)};
    if (holder != 0) continue;
    const Caller caller = DescribeAnew(object);
    if (caller.name == 0 || !entry.begin.compare_exchange_strong(holder, object.begin)) return caller;
    entry.name.store(caller.name, std::memory_order_relaxed);
    entry.is_runtime.store(caller.is_runtime, std::memory_order_relaxed);
    entry.path.store(object.path, std::memory_order_release);
    return caller;
  }
  return DescribeAnew(object);
}

Caller DescribeAt(const void* address) {
  LoadedObject object;
  return FindObject(address, &object) ? Describe(object) : Caller{0, false};
}

// ---- frames of the runtime and of this library

// The distance from the stack pointer at `address` to that of the frame's caller, and how often it was
// measured.
struct FrameSize {
  std::atomic<uintptr_t> address;
  std::atomic<uint32_t> bytes;
  std::atomic<uint32_t> times;  // measured, always with the same result; kNotFixed = with different ones
};
constexpr size_t kMostFrameSizes = 512;
constexpr uint32_t kTrusted = 3, kNotFixed = ~uint32_t{0};
constinit FrameSize frame_sizes[kMostFrameSizes] = {};

// The entry of the address, or a free one that it now takes; nullptr if its neighborhood is full.
FrameSize* SizeAt(uintptr_t address) {
  const size_t first = address * 0x9E3779B97F4A7C15 >> 55;
  static_assert(kMostFrameSizes == 512);
  for (size_t i = 0; i < kMostProbes; ++i) {
    FrameSize& entry = frame_sizes[(first + i) % kMostFrameSizes];
    uintptr_t holder = entry.address.load(std::memory_order_relaxed);
    if (holder == 0) entry.address.compare_exchange_strong(holder, address);
    if (holder == 0 || holder == address) return &entry;
  }
  return nullptr;
}

void Measure(uintptr_t address, uintptr_t bytes) {
  FrameSize* const entry = SizeAt(address);
  if (entry == nullptr) return;
  const uint32_t times = entry->times.load(std::memory_order_acquire);
  if (times == kNotFixed) return;
  if (times == 0) entry->bytes.store(static_cast<uint32_t>(bytes), std::memory_order_relaxed);
  const bool same = entry->bytes.load(std::memory_order_relaxed) == bytes;
  entry->times.store(same ? times + 1 : kNotFixed, std::memory_order_release);
}

// 0 if it was not measured often enough.
uint32_t SizeOfFrame(uintptr_t address) {
  const FrameSize* const entry = SizeAt(address);
  if (entry == nullptr) return 0;
  const uint32_t times = entry->times.load(std::memory_order_acquire);
  return times >= kTrusted && times != kNotFixed ? entry->bytes.load(std::memory_order_relaxed) : 0;
}

struct Walk {
  uintptr_t below = 0, below_stack = 0;  // the previous frame, if its size is to be measured
  uint32_t name = 0;
};

// Walks up to the first frame that is neither ours nor the runtime's.
_Unwind_Reason_Code VisitFrame(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  const uintptr_t address = _Unwind_GetIP(context), stack = _Unwind_GetCFA(context);
  if (address == 0) return _URC_END_OF_STACK;
  if (walk.below != 0) Measure(walk.below, stack - walk.below_stack);
  const auto* const code = reinterpret_cast<const void*>(address);
  const bool ours = IsOwnCode(code);
  const Caller caller = ours ? Caller{0, false} : DescribeAt(code);
  if (ours || caller.is_runtime) {
    walk.below = address;
    walk.below_stack = stack;
    return _URC_NO_REASON;
  }
  walk.name = caller.name;
  return _URC_END_OF_STACK;
}

uint32_t Unwind() {
  Walk walk;
  _Unwind_Backtrace(VisitFrame, &walk);
  return walk.name;
}

// Like Unwind, with measured sizes; 0 if one is not known. Always 0 where calls do not store the return
// address on the stack. There the stack is unwound.
uint32_t WalkFrames([[maybe_unused]] const CallSite& site) {
#if defined(__x86_64__)
  constexpr int kMostFrames = 32;
  auto address = reinterpret_cast<uintptr_t>(site.return_address);
  auto stack = reinterpret_cast<uintptr_t>(site.stack);
  for (int i = 0; i < kMostFrames; ++i) {
    const uint32_t bytes = SizeOfFrame(address);
    if (bytes == 0) return 0;
    stack += bytes;
    address = *reinterpret_cast<const uintptr_t*>(stack - sizeof(address));
    if (IsOwnCode(reinterpret_cast<const void*>(address))) continue;
    const Caller caller = DescribeAt(reinterpret_cast<const void*>(address));
    if (!caller.is_runtime) return caller.name;
  }
#endif
  return 0;
}

}  // namespace

uint32_t CallingLibrary(const CallSite& site) {
  const Caller caller = DescribeAt(site.return_address);
  if (!caller.is_runtime) return caller.name;
  uint32_t outer = WalkFrames(site);
  if (outer == 0) outer = Unwind();
  return outer != 0 ? outer : caller.name;
}

}  // namespace vramscope::injector
