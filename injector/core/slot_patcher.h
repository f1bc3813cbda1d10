// SPDX-License-Identifier: Apache-2.0
// Puts our functions into the slots through which loaded objects call each other, where preloading did not.
//
// Why: an object loaded with RTLD_DEEPBIND, or loaded before this library, has its calls bound past us. Stock
// PyTorch needs 14 slots for the memory and autograd hooks in every release from 1.13 to 2.15: 12 PLT slots
// and 2 vtable entries.
//
// Only objects that need libc10 or libtorch*, or define one of the functions, are searched; torch's own
// libraries cost about 50 ms once. A slot is written with one atomic store; both its old and its new value
// are valid functions, so threads may run through it meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/core/elf_image.h"
#include "injector/core/hook.h"

namespace vramscope::injector {

// Returns the number of slots that were changed; 0 when all of them hold our functions already. Makes
// read-only slots writable and read-only again.
size_t PatchSlots(Hook* hooks, size_t count);
// The reverse: every slot that holds one of our functions gets the real one, as far as it is known.
size_t RestoreSlots(Hook* hooks, size_t count);

// Changes the slots of one object alone, also for functions of C. The real functions must be known (`found`).
size_t PatchSlotsOf(const ElfImage& image, Hook* hooks, size_t count);
// The reverse.
size_t RestoreSlotsOf(const ElfImage& image, Hook* hooks, size_t count);

// Fills one slot of `image`, of a vtable whose entries have no names. False when its page could not be made
// writable; the slot is then as it was.
bool StoreInSlot(const ElfImage& image, void** slot, void* value);

}  // namespace vramscope::injector
