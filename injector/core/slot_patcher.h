// SPDX-License-Identifier: Apache-2.0
// Writes our functions into the slots (PLT, GOT, vtable) through which loaded objects call each other. Needed
// for objects loaded with RTLD_DEEPBIND, or before this library.
//
// PyTorch 1.13 to 2.15 needs 12 PLT slots and 2 vtable entries for the memory and autograd hooks.
//
// Searches only objects that need libc10 or libtorch*, or define one of the functions. About 50 ms for
// torch's own libraries. A slot changes by one atomic store, so threads may call through it at any time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/core/elf_image.h"
#include "injector/core/hook.h"

namespace vramscope::injector {

// Patches only C++ symbols (mangled, _Z...). Returns the number of changed slots. Read-only slots stay
// read-only.
size_t PatchSlots(Hook* hooks, size_t count);
// Undoes PatchSlots, where the real function is known.
size_t RestoreSlots(Hook* hooks, size_t count);

// Patches one object only, C symbols included. The real functions must be known (`found`).
size_t PatchSlotsOf(const ElfImage& image, Hook* hooks, size_t count);
// Undoes PatchSlotsOf.
size_t RestoreSlotsOf(const ElfImage& image, Hook* hooks, size_t count);

// Writes `value` to a slot of `image`. Also for vtable entries. False, without a change, if its page could
// not be made writable.
bool StoreInSlot(const ElfImage& image, void** slot, void* value);

}  // namespace vramscope::injector
