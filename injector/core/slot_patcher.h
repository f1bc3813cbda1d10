// SPDX-License-Identifier: Apache-2.0
// Writes our functions into the slots (PLT, GOT, vtable) through which loaded objects call each other. This
// is needed for objects that were loaded with RTLD_DEEPBIND, or before this library.
//
// PyTorch 1.13 to 2.15 needs 12 PLT slots and 2 vtable entries for the memory and autograd hooks.
//
// The search covers only objects that link to libc10 or libtorch*, or define one of the functions. The search
// takes about 50 ms for torch's own libraries. A slot changes by one atomic store. Therefore other threads
// may call through the slot at any time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/core/elf_image.h"
#include "injector/core/hook.h"

namespace vramscope::injector {

// Patches only C++ symbols (mangled, _Z...). Returns the number of changed slots. Read-only slots stay
// read-only.
size_t PatchSlots(Hook* hooks, size_t count);
// Undoes PatchSlots for each hook whose real function is known.
size_t RestoreSlots(Hook* hooks, size_t count);

// Patches the slots of one object, including those of C symbols. The real functions must be known
// (Hook::found).
size_t PatchSlotsOf(const ElfImage& image, Hook* hooks, size_t count);
// Undoes PatchSlotsOf.
size_t RestoreSlotsOf(const ElfImage& image, Hook* hooks, size_t count);

// Writes `value` to a slot or vtable entry of `image`. Returns false and changes nothing if the slot's page
// could not be made writable.
bool StoreInSlot(const ElfImage& image, void** slot, void* value);

}  // namespace vramscope::injector
