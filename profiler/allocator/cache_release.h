// SPDX-License-Identifier: Apache-2.0
// Functions that give memory back to the driver.
#pragma once

#include "profiler/allocator/expandable_segments.h"
#include "profiler/allocator/heap.h"

namespace vramscope::allocator {

// Frees unused large segments of the default pool, those of average age or older first, until the threshold
// is met. Requires a memory limit.
void CollectGarbage(Heap& heap);

// Gives back one oversize block of the request's stream that is large enough. If there is none, gives back
// the largest oversize blocks until their sum is large enough. Returns false if the sum of all is too small.
// All are given back even then.
bool ReleaseAvailable(Heap& heap, const Heap::Request& request);

// Default pool: waits for all pending frees, then gives back the cached segments of the default pool and of
// ended private pools. During a capture: gives back only those of ended private pools, without a wait. Any
// other pool, if it has ended: completes its pending frees and gives back its cached segments.
void ReleaseCached(Heap& heap, ExpandableSegments& expandable, PoolIndex pool);

}  // namespace vramscope::allocator
