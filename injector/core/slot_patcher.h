// SPDX-License-Identifier: Apache-2.0
// Writes our functions into the slots (PLT, GOT, vtable) through which loaded objects call each other. Needed
// for slots that preloading did not bind to us.
//
// Why: the calls of an object loaded with RTLD_DEEPBIND, or loaded before this library, bypass us. Stock
// PyTorch needs 14 slots for the memory and autograd hooks in every release from 1.13 to 2.15: 12 PLT slots
// and 2 vtable entries.
//
// Only objects that need libc10 or libtorch*, or define one of the functions, are searched. The search of
// torch's own libraries takes about 50 ms. A slot is written with one atomic store. The slot's old and new
// values are both valid functions, so threads may call through it at any time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/core/elf_image.h"
#include "injector/core/hook.h"

namespace vramscope::injector {

// Patches only C++ symbols (mangled, _Z...), in every object that may call them. Returns the number of
// changed slots; 0 if all of them already hold our functions. Makes read-only slots writable and then
// read-only again.
size_t PatchSlots(Hook* hooks, size_t count);
// Undoes PatchSlots: every slot with one of our functions gets the real function back, if it is known.
size_t RestoreSlots(Hook* hooks, size_t count);

// Patches the slots of one object only, C symbols included. The real functions must be known (`found`).
size_t PatchSlotsOf(const ElfImage& image, Hook* hooks, size_t count);
// Undoes PatchSlotsOf.
size_t RestoreSlotsOf(const ElfImage& image, Hook* hooks, size_t count);

// Writes `value` to one slot of `image`. Called directly for vtable entries, which have no symbol name. False
// if its page could not be made writable; the slot is then unchanged.
bool StoreInSlot(const ElfImage& image, void** slot, void* value);

}  // namespace vramscope::injector
