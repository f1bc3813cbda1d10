// SPDX-License-Identifier: Apache-2.0
// vramscope_tensorflow_ready of api.h: checks the hooks after TensorFlow was imported, and records their
// state.
#include <string.h>

#include "injector/core/api.h"
#include "injector/core/coverage.h"
#include "injector/core/elf_image.h"
#include "injector/core/session.h"
#include "injector/tensorflow/hook_table.h"

namespace vramscope::injector::tensorflow {
namespace {

// Proven hooks have already reported themselves.
void RecordHookCoverage() {
  const char* previous = "";
  for (const Hook& hook : hooks) {
    if (strcmp(hook.name, previous) == 0) continue;
    previous = hook.name;
    const trace::CoverageState state = StateOfHook(hooks, kHookCount, hook.name);
    if (state == trace::CoverageState::kProven) continue;
    const bool missing = state == trace::CoverageState::kMissing;
    RecordCoverage(hook.name, state, missing ? "no such function in this release of TensorFlow" : nullptr);
  }
}

// The allocator's vtable is filled from the same scope that binds all calls: it shows whether they reach us.
bool VtableReachesUs() {
  size_t bytes = 0;
  auto* const vtable = static_cast<void* const*>(FindSymbol("_ZTVN3tsl12BFCAllocatorE", &bytes));
  for (size_t i = 0; vtable != nullptr && i < bytes / sizeof(void*); ++i) {
    if (vtable[i] == hooks[static_cast<size_t>(HookId::kAllocateRaw)].ours) return true;
  }
  return false;
}

bool Ready() {
  if (!StartSession()) return false;
  FindRealFunctions(hooks, kHookCount);
  RecordHookCoverage();
  const bool reached = VtableReachesUs();
  if (!reached) {
    RecordCoverage("tsl::BFCAllocator::AllocateRaw", trace::CoverageState::kMissing,
                   "TensorFlow was loaded past the preloaded library");
  }
  return reached;
}

}  // namespace
}  // namespace vramscope::injector::tensorflow

extern "C" __attribute__((visibility("default"))) int vramscope_tensorflow_ready(void) {
  return vramscope::injector::tensorflow::Ready() ? 1 : 0;
}
