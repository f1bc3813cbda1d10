// SPDX-License-Identifier: Apache-2.0
// Macros for hook tables. A row of a table is
//
//   row(our function, readable name, result, mangled name, parameters)
//
// From each row, the macros generate a declaration, an id, a Hook entry and an accessor of the real function.
// The hooks of all frameworks call the real functions through RealFunctions.
#pragma once

#include <atomic>
#include <cstddef>

#include "injector/core/hook.h"

// Declares our function under the mangled name and exports it, so that the loader binds calls to our
// function.
#define VRAMSCOPE_DECLARE_HOOK(function, name, result, symbol, parameters) \
  __attribute__((visibility("default"))) result function parameters __asm__(symbol);

// A member of the table's `enum class HookId`.
#define VRAMSCOPE_NAME_HOOK(function, name, result, symbol, parameters) k##function,

// An element of the table's Hook array.
#define VRAMSCOPE_HOOK_ROW(function, name, result, symbol, parameters) \
  {symbol, name, reinterpret_cast<void*>(&function), nullptr, false},

// Real<our function>(): the framework's function, of the same type. The table must define `real_functions`.
#define VRAMSCOPE_REAL_FUNCTION(function, name, result, symbol, parameters)               \
  inline auto* Real##function() {                                                         \
    return reinterpret_cast<decltype(&function)>(real_functions.Of(HookId::k##function)); \
  }

namespace vramscope::injector {

// The real functions of the hooks that were called. Every event reads one of these pointers. Eight pointers
// share a cache line.
template <typename HookId, Hook* kHooks>
class RealFunctions {
 public:
  // Returns the real function, or nullptr if no library defines the function.
  void* Of(HookId id) {
    void* const real = functions_[Index(id)].load(std::memory_order_relaxed);
    return __builtin_expect(real != nullptr, 1) ? real : FirstCallOf(id);
  }
  // Forgets all real functions. The next call of each hook calls ProveHook() again (hook.h).
  void Forget() {
    for (std::atomic<void*>& real : functions_) real.store(nullptr, std::memory_order_relaxed);
  }

 private:
  static constexpr size_t Index(HookId id) { return static_cast<size_t>(id); }
  __attribute__((noinline)) void* FirstCallOf(HookId id) {
    void* const real = ProveHook(kHooks[Index(id)]);
    functions_[Index(id)].store(real, std::memory_order_relaxed);
    return real;
  }

  std::atomic<void*> functions_[Index(HookId::kCount)] = {};
};

}  // namespace vramscope::injector
