// SPDX-License-Identifier: Apache-2.0
#include "injector/torch/hook_table.h"

#include "injector/core/hot.h"

namespace vramscope::injector {

#define VRAMSCOPE_HOOK_ROW(function, name, result, symbol, parameters) \
  {symbol, name, reinterpret_cast<void*>(&function), nullptr, false},
constinit Hook torch_hooks[kHookCount] = {VRAMSCOPE_TORCH_HOOKS(VRAMSCOPE_HOOK_ROW)};
#undef VRAMSCOPE_HOOK_ROW

VRAMSCOPE_HOT alignas(64) constinit std::atomic<void*> real_functions[kHookCount] = {};

void* FirstCallOf(HookId id) {
  void* const real = ProveHook(HookOf(id));
  real_functions[static_cast<size_t>(id)].store(real, std::memory_order_relaxed);
  return real;
}

}  // namespace vramscope::injector
