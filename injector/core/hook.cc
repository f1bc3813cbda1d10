// SPDX-License-Identifier: Apache-2.0
#include "injector/core/hook.h"

#include <string.h>

#include "injector/core/coverage.h"
#include "injector/core/elf_image.h"

namespace vramscope::injector {

void FindRealFunctions(Hook* hooks, size_t count) {
  struct Search {
    Hook* hooks;
    size_t count;
  } search = {hooks, count};
  ForEachImage(
      [](const ElfImage& image, void* argument) {
        const auto& wanted = *static_cast<Search*>(argument);
        for (size_t i = 0; i < wanted.count; ++i) {
          Hook& hook = wanted.hooks[i];
          if (hook.found.load(std::memory_order_relaxed) == nullptr) {
            hook.found.store(image.Find(hook.symbol), std::memory_order_relaxed);
          }
        }
        return true;
      },
      &search);
}

void* ProveHook(Hook& hook) {
  FindRealFunctions(&hook, 1);
  void* const real = hook.found.load(std::memory_order_relaxed);
  if (real == nullptr) return nullptr;
  if (!hook.proven.exchange(true, std::memory_order_relaxed)) {
    RecordCoverage(hook.name, trace::CoverageState::kProven, nullptr);
  }
  return real;
}

trace::CoverageState StateOfHook(const Hook* hooks, size_t count, const char* name) {
  auto state = trace::CoverageState::kMissing;
  for (const Hook* hook = hooks; hook != hooks + count; ++hook) {
    if (strcmp(hook->name, name) != 0) continue;
    if (hook->proven.load(std::memory_order_relaxed)) return trace::CoverageState::kProven;
    if (hook->found.load(std::memory_order_relaxed) != nullptr) state = trace::CoverageState::kHooked;
  }
  return state;
}

}  // namespace vramscope::injector
