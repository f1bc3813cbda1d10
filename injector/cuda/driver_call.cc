// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/driver_call.h"

#include <stdlib.h>

#include "injector/core/coverage.h"
#include "injector/core/driver_sight.h"
#include "injector/core/elf_image.h"
#include "injector/core/hot.h"
#include "injector/core/intern.h"
#include "injector/core/options.h"
#include "injector/cuda/driver_coverage.h"

namespace vramscope::injector {

VRAMSCOPE_HOT constinit std::atomic<DriverHooks> driver_hooks = DriverHooks::kUndecided;
constinit thread_local uint32_t DriverCall::depth_ = 0;

namespace {

constexpr char kSwitch[] = "VRAMSCOPE_NO_DRIVER_HOOKS";

// Ids of the functions' names, once they are known; a forked child inherits them.
VRAMSCOPE_HOT constinit std::atomic<uint32_t> api_names[kDriverFunctions] = {};

}  // namespace

void DecideDriverHooks() {
  Initialize();
  const bool off = (!SessionIsWanted() && !options.dormant) || DriverHooksAreForbidden();
  driver_hooks.store(off ? DriverHooks::kOff : DriverHooks::kOn, std::memory_order_release);
  seen_by_hooks.installed.store(!off, std::memory_order_relaxed);
}

bool DriverHooksAreForbidden() { return secure_getenv(kSwitch) != nullptr; }

void ForgetDriverNames() {
  for (std::atomic<uint32_t>& name : api_names) name.store(0, std::memory_order_relaxed);
}

void* FindRealDriver(DriverFunction function) {
  void* const found = FindSymbol(FormOf(function).symbol);
  if (found == nullptr) return nullptr;
  std::atomic<void*>& slot = real_driver[static_cast<size_t>(function)];
  void* known = nullptr;
  return slot.compare_exchange_strong(known, found) ? found : known;
}

bool DriverCall::IsWanted() {
  if (__builtin_expect(driver_hooks.load(std::memory_order_relaxed) != DriverHooks::kOn, 0)) return false;
  if (thread_ring.inside != 0) return false;
  return RecordingFile() != nullptr || StartSession();
}

uint32_t DriverCall::api() const {
  std::atomic<uint32_t>& slot = api_names[static_cast<size_t>(function_)];
  uint32_t name = slot.load(std::memory_order_relaxed);
  if (__builtin_expect(name != 0, 1)) return name;
  name = InternString(FormOf(function_).symbol);
  slot.store(name, std::memory_order_relaxed);
  if (name != 0) ProveDriverFunction(function_);
  return name;
}

}  // namespace vramscope::injector
