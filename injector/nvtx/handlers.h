// SPDX-License-Identifier: Apache-2.0
// Our functions that a program's NVTX calls reach. Each records its event and calls the other injection.
//
//   push, start       kRangeBegin of RangeKind::kNvtx; id 0 for a pushed range, else the number that start
//                     returns
//   pop, end          kRangeEnd; the end of a started range may come from any thread. It carries the id and
//                     no name
//   mark              kMark of MarkKind::kUser
//   payload           the value of a mark; for a range, a kUser mark with the range's name right after its
//                     begin. Numbers that are not whole go into the name: "loss = 0.125"
//   color, category   ignored
//
// Callable from any thread. Only a name's first use takes a lock.
#pragma once

#include <span>

#include "injector/nvtx/chain.h"

namespace vramscope::injector::nvtx {

// Slots by position in the tables of kCore, of kCore2, and of the memory extension.
std::span<Slot> CoreSlots();
std::span<Slot> Core2Slots();
std::span<Slot> MemorySlots();

}  // namespace vramscope::injector::nvtx
