// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/caller.h"

#include <unwind.h>

#include <atomic>

#include "injector/core/elf_image.h"
#include "injector/core/intern.h"
#include "injector/cuda/loaded_object.h"

namespace vramscope::injector {
namespace {

// The objects seen so far, complete when `path` is set. Entries are only added: an object that takes the
// addresses of one that was unloaded has another path, and gets an entry of its own.
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

// The first frame that is neither ours nor the runtime's.
_Unwind_Reason_Code VisitFrame(_Unwind_Context* context, void* found) {
  const auto* const address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
  if (address == nullptr) return _URC_END_OF_STACK;
  if (IsOwnCode(address)) return _URC_NO_REASON;
  const Caller caller = DescribeAt(address);
  if (caller.is_runtime) return _URC_NO_REASON;
  *static_cast<uint32_t*>(found) = caller.name;
  return _URC_END_OF_STACK;
}

}  // namespace

uint32_t CallingLibrary(const void* return_address) {
  const Caller caller = DescribeAt(return_address);
  if (!caller.is_runtime) return caller.name;
  uint32_t outer = 0;
  _Unwind_Backtrace(VisitFrame, &outer);
  return outer != 0 ? outer : caller.name;
}

}  // namespace vramscope::injector
