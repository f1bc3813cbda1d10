// SPDX-License-Identifier: Apache-2.0
// The functions that receive the program's NVTX calls. Each function records its event. It then calls the
// other NVTX injection library, if there is one.
//
//   push, start       kRangeBegin of RangeKind::kNvtx; id 0 for a pushed range, else the number that start
//                     returns
//   pop, end          kRangeEnd; any thread may end a started range. The event has the id and no name
//   mark              kMark of MarkKind::kUser
//   payload           value of the mark. For a range, a kUser mark with the range's name follows the begin.
//                     A fraction is written into the name: "loss = 0.125"
//   color, category   ignored
//
// The functions may be called from any thread. Only the first use of a name takes a lock.
#pragma once

#include <span>

#include "injector/nvtx/chain.h"

namespace vramscope::injector::nvtx {

// The slots in the order of NVTX's function tables: kCore, kCore2, and the memory extension.
std::span<Slot> CoreSlots();
std::span<Slot> Core2Slots();
std::span<Slot> MemorySlots();

}  // namespace vramscope::injector::nvtx
