// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/function_lookup.h"

#include <dlfcn.h>

#include "injector/core/driver_sight.h"
#include "injector/core/elf_image.h"
#include "injector/cuda/driver_call.h"
#include "injector/cuda/loaded_object.h"
#include "injector/cuda/real_dlsym.h"

namespace vramscope::injector {
namespace {

bool IsCalledByDriver(const void* caller) {
  LoadedObject object;
  return FindObject(caller, &object) && IsDriver(object);
}

void* RealLookup(void* handle, const char* name, const char* version) {
  if (version == nullptr) return RealDlsym()(handle, name);
  return RealDlvsym()(handle, name, version);
}

using GetProcAddress = int (*)(const char*, void**, int, uint64_t);
using GetProcAddress2 = int (*)(const char*, void**, int, uint64_t, int*);

// The driver's answer for a release that the table knows; nullptr if there is none.
void* AnswerForKnownCuda(const char* name, uint64_t flags) {
  void* answer = nullptr;
  if (void* const ask = real_driver[static_cast<size_t>(DriverFunction::cuGetProcAddress_v2)].load()) {
    reinterpret_cast<GetProcAddress2>(ask)(name, &answer, kNewestKnownCuda, flags, nullptr);
  } else if (void* const old = real_driver[static_cast<size_t>(DriverFunction::cuGetProcAddress)].load()) {
    reinterpret_cast<GetProcAddress>(old)(name, &answer, kNewestKnownCuda, flags);
  }
  return answer;
}

// The program searched all loaded objects and found our export. Without us it would have found the next one
// in the global scope, or else the driver that the calling object itself is linked to.
void* BehindOurExport(DriverFunction function, const void* caller) {
  if (void* const next = RealDlsym()(RTLD_NEXT, FormOf(function).symbol)) return next;
  struct Search {
    const void* caller;
    bool is_linked;
  } search = {caller, false};
  ForEachImage(
      [](const ElfImage& image, void* argument) {
        auto& wanted = *static_cast<Search*>(argument);
        if (!image.Contains(wanted.caller)) return true;
        wanted.is_linked = image.Needs("libcuda.so");
        return false;
      },
      &search);
  if (!search.is_linked) return nullptr;
  dlerror();  // there is no error any more
  return FindRealDriver(function);
}

}  // namespace

extern "C" Answer vramscope_driver_function_for(void* handle, const char* name, const char* version,
                                                const void* caller) {
  constexpr Answer kJumpOn = {nullptr, 0};
  const DriverFunction function = FindBySymbol(name);
  if (function == DriverFunction::kCount || handle == RTLD_NEXT || IsCalledByDriver(caller)) return kJumpOn;
  // Not found: the real function reports that itself, or finds it in the caller's own scope (RTLD_DEFAULT).
  void* real = RealLookup(handle, name, version);
  if (real == nullptr) return kJumpOn;
  if (real == FormOf(function).ours) real = BehindOurExport(function, caller);
  if (real == nullptr) return {nullptr, 1};  // the look-up above has left its message for dlerror
  if (driver_hooks.load(std::memory_order_relaxed) == DriverHooks::kOff) return {real, 1};
  driver_lookups.by_dlsym.fetch_add(1, std::memory_order_relaxed);
  seen_by_hooks.lookups.fetch_add(1, std::memory_order_relaxed);
  return {StandInFor(function, real), 1};
}

void StandInForAnswer(const void* caller, const char* name, void** function, int cuda_version,
                      uint64_t flags) {
  if (name == nullptr || function == nullptr || *function == nullptr || IsCalledByDriver(caller)) return;
  const DriverFunction form = FindByBase(name, cuda_version, flags);
  if (form == DriverFunction::kCount) return;
  // A newer release may have changed the function: its answer then differs from the one for known releases.
  if (cuda_version > kNewestKnownCuda && AnswerForKnownCuda(name, flags) != *function) return;
  driver_lookups.by_driver.fetch_add(1, std::memory_order_relaxed);
  seen_by_hooks.lookups.fetch_add(1, std::memory_order_relaxed);
  *function = StandInFor(form, *function);
}

}  // namespace vramscope::injector
