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

// Gives back oversize blocks of the request's stream: one that is large enough, or else the largest ones
// until their sum is large enough. Returns true if it is. Blocks that do not suffice are given back all the
// same.
bool ReleaseAvailable(Heap& heap, const Heap::Request& request);

// For the default pool: waits for all pending frees, then gives back its cached segments and those of private
// pools that have ended. During a capture: only the latter, without a wait. For another pool: completes its
// pending frees and gives back its cached segments, if the pool has ended.
void ReleaseCached(Heap& heap, ExpandableSegments& expandable, PoolIndex pool);

}  // namespace vramscope::allocator
