// SPDX-License-Identifier: Apache-2.0
// Functions that give memory back to the driver: for garbage collection, for the retries of a failing
// request, for empty_cache() and at the end of a pool.
#pragma once

#include "profiler/allocator/expandable_segments.h"
#include "profiler/allocator/heap.h"

namespace vramscope::allocator {

// Frees unused large segments of the default pool, those of average age or older first, until the threshold
// is met. Requires a memory limit.
void CollectGarbage(Heap& heap);

// Gives back one oversize block of the request's stream that is large enough. If there is none, gives back
// the largest oversize blocks until their sum is large enough. Returns false if all of them together are too
// small; they are given back even then.
bool ReleaseAvailable(Heap& heap, const Heap::Request& request);

// For the default pool: waits for all pending frees, then gives back the cached segments of the default pool
// and of private pools that have ended. During a capture: gives back only the segments of ended private
// pools, without a wait. For another pool that has ended: completes its pending frees and gives back its
// cached segments.
void ReleaseCached(Heap& heap, ExpandableSegments& expandable, PoolIndex pool);

}  // namespace vramscope::allocator
