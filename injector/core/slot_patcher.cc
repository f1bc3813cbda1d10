// SPDX-License-Identifier: Apache-2.0
#include "injector/core/slot_patcher.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "injector/core/elf_image.h"

namespace vramscope::injector {
namespace {

struct Patch {
  Hook* hooks;
  size_t count;
  bool restore;
  size_t changed;
};

bool MayCallHooks(const ElfImage& image, const Patch& patch) {
  if (image.Needs("libc10") || image.Needs("libtorch")) return true;
  for (size_t i = 0; i < patch.count; ++i) {
    if (image.Find(patch.hooks[i].symbol) != nullptr) return true;
  }
  return false;
}

void VisitSlot(const ElfImage& image, Patch& patch, void** slot, const char* symbol) {
  for (size_t i = 0; i < patch.count; ++i) {
    Hook& hook = patch.hooks[i];
    if (strcmp(symbol, hook.symbol) != 0) continue;
    void* const wanted = patch.restore ? hook.found.load(std::memory_order_relaxed) : hook.ours;
    void* const current = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    const bool change = patch.restore ? current == hook.ours && wanted != nullptr : current != wanted;
    if (change && StoreInSlot(image, slot, wanted)) ++patch.changed;
    return;
  }
}

size_t Run(Patch patch) {
  FindRealFunctions(patch.hooks, patch.count);
  ForEachImage(
      [](const ElfImage& image, void* argument) {
        auto& running = *static_cast<Patch*>(argument);
        if (MayCallHooks(image, running)) {
          image.ForEachSlot([&](void** slot, const char* symbol) {
            const bool mangled =
                symbol[0] == '_' && symbol[1] == 'Z';  // like all of PyTorch's; there are many other symbols
            if (mangled) VisitSlot(image, running, slot, symbol);
          });
        }
        return true;
      },
      &patch);
  return patch.changed;
}

size_t RunOn(const ElfImage& image, Patch patch) {
  image.ForEachSlot([&](void** slot, const char* symbol) { VisitSlot(image, patch, slot, symbol); });
  return patch.changed;
}

}  // namespace

bool StoreInSlot(const ElfImage& image, void** slot, void* value) {
  const bool read_only = image.IsReadOnlyAfterRelocation(slot);
  const auto page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  void* const page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(slot) & ~(page_bytes - 1));
  if (read_only && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (read_only) mprotect(page, page_bytes, PROT_READ);
  return true;
}

size_t PatchSlots(Hook* hooks, size_t count) { return Run({hooks, count, false, 0}); }
size_t RestoreSlots(Hook* hooks, size_t count) { return Run({hooks, count, true, 0}); }

size_t PatchSlotsOf(const ElfImage& image, Hook* hooks, size_t count) {
  return RunOn(image, {hooks, count, false, 0});
}

size_t RestoreSlotsOf(const ElfImage& image, Hook* hooks, size_t count) {
  return RunOn(image, {hooks, count, true, 0});
}

}  // namespace vramscope::injector
