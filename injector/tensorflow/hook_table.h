// SPDX-License-Identifier: Apache-2.0
// The table of all TensorFlow functions that the injector replaces, one row per function.
//
//   row(our function, readable name, result, mangled name, parameters)
//     -> our function's declaration, exported under the mangled name: the loader binds calls to it
//     -> HookId::k<our function> and its Hook (coverage)
//     -> Real<our function>(): the function of TensorFlow, of the same type
//
// The mangled names come from `nm -D` on libtensorflow_framework.so.2 of the wheels 2.15.1 and 2.21.0.
// Preloading replaces calls through the PLT and through vtables. If rows have the same readable name, they
// are versions of the same TensorFlow function.
//
// Parameters that the hooks do not read are declared as pointers, and std::align_val_t as size_t.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/core/hook_rows.h"

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

VRAMSCOPE_TENSORFLOW_HOOKS(VRAMSCOPE_DECLARE_HOOK)

enum class HookId : size_t {
  VRAMSCOPE_TENSORFLOW_HOOKS(VRAMSCOPE_NAME_HOOK) kCount,
};
inline constexpr size_t kHookCount = static_cast<size_t>(HookId::kCount);

extern Hook hooks[kHookCount];
extern RealFunctions<HookId, hooks> real_functions;

VRAMSCOPE_TENSORFLOW_HOOKS(VRAMSCOPE_REAL_FUNCTION)

}  // namespace vramscope::injector::tensorflow
