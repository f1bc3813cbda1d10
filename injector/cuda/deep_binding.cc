// SPDX-License-Identifier: Apache-2.0
// Patches objects that the program loads with RTLD_DEEPBIND. Their calls of dlsym bypass us, so their slots
// are changed after they are loaded. Look-ups by their constructors are missed.
//
// Only such a dlopen is called from here, and only with a path that means the same for every caller: a name
// that is searched for, and "$ORIGIN", depend on the caller. All others are jumped to (dlsym_entry.cc).
#include "injector/cuda/deep_binding.h"

#include <string.h>

#include "injector/core/slot_patcher.h"
#include "injector/cuda/driver_call.h"
#include "injector/cuda/real_dlsym.h"

extern "C" void* dlsym(void* handle, const char* name) noexcept;
extern "C" void* dlvsym(void* handle, const char* name, const char* version) noexcept;

namespace vramscope::injector {
namespace {

constexpr size_t kLookups = 2;
// The look-up functions, followed by all driver functions, for objects that are linked to the driver.
struct DeepHooks {
  Hook hooks[kLookups + kDriverFunctions];
};
constinit DeepHooks deep = {};

void Fill() {
  deep.hooks[0].symbol = "dlsym";
  deep.hooks[0].ours = reinterpret_cast<void*>(&dlsym);
  deep.hooks[0].found = reinterpret_cast<void*>(RealDlsym());
  deep.hooks[1].symbol = "dlvsym";
  deep.hooks[1].ours = reinterpret_cast<void*>(&dlvsym);
  deep.hooks[1].found = reinterpret_cast<void*>(RealDlvsym());
  for (size_t i = 0; i < kDriverFunctions; ++i) {
    deep.hooks[kLookups + i].found = real_driver[i].load(std::memory_order_relaxed);
    deep.hooks[kLookups + i].symbol = driver_forms[i].symbol;
    deep.hooks[kLookups + i].ours = driver_forms[i].ours;
  }
}

size_t CountImages() {
  size_t count = 0;
  ForEachImage(
      [](const ElfImage&, void* number) {
        ++*static_cast<size_t*>(number);
        return true;
      },
      &count);
  return count;
}

size_t HooksFor(const ElfImage& image) {
  return image.Needs("libcuda.so") ? kLookups + kDriverFunctions : kLookups;
}

// New objects are at the end of the list.
void PatchBehind(size_t known) {
  Fill();
  struct Visit {
    size_t known, at;
  } visit = {known, 0};
  ForEachImage(
      [](const ElfImage& image, void* argument) {
        auto& now = *static_cast<Visit*>(argument);
        if (now.at++ < now.known || image.Find("cuInit") != nullptr) return true;
        PatchSlotsOf(image, deep.hooks, HooksFor(image));
        return true;
      },
      &visit);
}

}  // namespace

void PatchLookupsOf(const ElfImage& image) {
  Fill();
  if (deep.hooks[0].found.load(std::memory_order_relaxed) != nullptr)
    PatchSlotsOf(image, deep.hooks, HooksFor(image));
}

void RestoreLookupsOf(const ElfImage& image) {
  Fill();
  RestoreSlotsOf(image, deep.hooks, HooksFor(image));
}

extern "C" OpenAnswer vramscope_open_deep(const char* path, int flags) {
  if (driver_hooks.load(std::memory_order_relaxed) != DriverHooks::kOn || path == nullptr)
    return {nullptr, 0};
  if (strchr(path, '/') == nullptr || strchr(path, '$') != nullptr) return {nullptr, 0};
  const size_t known = CountImages();
  void* const handle = RealDlopen()(path, flags);
  if (handle != nullptr) PatchBehind(known);
  return {handle, 1};
}

}  // namespace vramscope::injector
