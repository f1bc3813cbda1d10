// SPDX-License-Identifier: Apache-2.0
// Every function of TensorFlow that the injector replaces, one row each. Everything about a hook follows from
// its row.
//
//   row(our function, as people write it, result, mangled name, parameters)
//     -> our function's declaration, exported under the mangled name: the loader binds calls to it
//     -> HookId::k<our function> and its Hook (coverage)
//     -> Real<our function>(): the function of TensorFlow, of the same type
//
// The names were read with `nm -D` from libtensorflow_framework.so.2 of the wheels 2.15.1 and 2.21.0. It
// binds lazily and without -Bsymbolic, so that preloading reaches PLT slots and vtables alike. Functions of
// one name are forms of one hook. Each release has at least one of them.
//
// Types that we do not look into are pointers; std::align_val_t is its underlying size_t.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/core/hook.h"

namespace vramscope::injector::tensorflow {

// clang-format off
#define VRAMSCOPE_TENSORFLOW_HOOKS(row)                                                                         \
  row(AllocateRaw, "tsl::BFCAllocator::AllocateRaw", void*,                                                     \
      "_ZN3tsl12BFCAllocator11AllocateRawEmmRKNS_20AllocationAttributesE",                                      \
      (void* allocator, size_t alignment, size_t bytes, const void* attributes))                                \
  row(DeallocateRaw, "tsl::BFCAllocator::DeallocateRaw", void,                                                  \
      "_ZN3tsl12BFCAllocator13DeallocateRawEPv",                                                                \
      (void* allocator, void* block))                                                                           \
  row(VisitAlloc, "tsl::SubAllocator::VisitAlloc", void,                                                        \
      "_ZN3tsl12SubAllocator10VisitAllocEPvim",                                                                 \
      (void* sub_allocator, void* region, int index, size_t bytes))                                             \
  row(VisitFree, "tsl::SubAllocator::VisitFree", void,                                                          \
      "_ZN3tsl12SubAllocator9VisitFreeEPvim",                                                                   \
      (void* sub_allocator, void* region, int index, size_t bytes))                                             \
  row(AlignedMalloc, "tsl::port::AlignedMalloc", void*,                                                         \
      "_ZN3tsl4port13AlignedMallocEmSt11align_val_t",                                                           \
      (size_t bytes, size_t alignment))                                                                         \
  row(AlignedMallocInt, "tsl::port::AlignedMalloc", void*,                                                      \
      "_ZN3tsl4port13AlignedMallocEmi",                                                                         \
      (size_t bytes, int alignment))                                                                            \
  row(AlignedFree, "tsl::port::AlignedFree", void,                                                              \
      "_ZN3tsl4port11AlignedFreeEPv",                                                                           \
      (void* block))                                                                                            \
  row(AlignedSizedFree, "tsl::port::AlignedFree", void,                                                         \
      "_ZN3tsl4port16AlignedSizedFreeEPvmSt11align_val_t",                                                      \
      (void* block, size_t bytes, size_t alignment))
// clang-format on

#define VRAMSCOPE_DECLARE_HOOK(function, name, result, symbol, parameters) \
  __attribute__((visibility("default"))) result function parameters __asm__(symbol);
VRAMSCOPE_TENSORFLOW_HOOKS(VRAMSCOPE_DECLARE_HOOK)
#undef VRAMSCOPE_DECLARE_HOOK

enum class HookId : size_t {
#define VRAMSCOPE_NAME_HOOK(function, name, result, symbol, parameters) k##function,
  VRAMSCOPE_TENSORFLOW_HOOKS(VRAMSCOPE_NAME_HOOK)
#undef VRAMSCOPE_NAME_HOOK
      kCount,
};
inline constexpr size_t kHookCount = static_cast<size_t>(HookId::kCount);

extern Hook hooks[kHookCount];

// The real functions of the hooks that have been called, by HookId. Separate from `hooks` because every event
// reads one.
extern std::atomic<void*> real_functions[kHookCount];

void* FirstCallOf(HookId id);
// nullptr if no loaded library has the function; TensorFlow then cannot have called us.
inline void* RealOf(HookId id) {
  void* const real = real_functions[static_cast<size_t>(id)].load(std::memory_order_relaxed);
  return __builtin_expect(real != nullptr, 1) ? real : FirstCallOf(id);
}

#define VRAMSCOPE_REAL_FUNCTION(function, name, result, symbol, parameters) \
  inline auto* Real##function() { return reinterpret_cast<decltype(&function)>(RealOf(HookId::k##function)); }
VRAMSCOPE_TENSORFLOW_HOOKS(VRAMSCOPE_REAL_FUNCTION)
#undef VRAMSCOPE_REAL_FUNCTION

}  // namespace vramscope::injector::tensorflow
