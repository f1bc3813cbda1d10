// SPDX-License-Identifier: Apache-2.0
#include "injector/tensorflow/hook_table.h"

#include "injector/core/hot.h"

namespace vramscope::injector::tensorflow {

#define VRAMSCOPE_HOOK_ROW(function, name, result, symbol, parameters) \
  {symbol, name, reinterpret_cast<void*>(&function), nullptr, false},
constinit Hook hooks[kHookCount] = {VRAMSCOPE_TENSORFLOW_HOOKS(VRAMSCOPE_HOOK_ROW)};
#undef VRAMSCOPE_HOOK_ROW

VRAMSCOPE_HOT constinit std::atomic<void*> real_functions[kHookCount] = {};

void* FirstCallOf(HookId id) {
  void* const real = ProveHook(hooks[static_cast<size_t>(id)]);
  real_functions[static_cast<size_t>(id)].store(real, std::memory_order_relaxed);
  return real;
}

}  // namespace vramscope::injector::tensorflow
