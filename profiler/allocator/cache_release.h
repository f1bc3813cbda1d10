// SPDX-License-Identifier: Apache-2.0
// Gives memory back to the driver: garbage collection, the retries of a failing request, an emptied cache,
// the end of a pool.
#pragma once

#include "profiler/allocator/expandable_segments.h"
#include "profiler/allocator/heap.h"

namespace vramscope::allocator {

// Frees unused large segments of the default pool, those of average age or older first, until the threshold
// is met. Only with a memory limit.
void CollectGarbage(Heap& heap);

// Gives back oversize blocks of the request's stream: one that is large enough, or the largest ones until
// they suffice together. They stay given back even if that is not enough. Returns true if it is enough.
bool ReleaseAvailable(Heap& heap, const Heap::Request& request);

// For the default pool: waits for all pending frees, then gives back all its cached segments and those of
// private pools that have ended. For another pool: gives back the cached segments of that pool.
void ReleaseCached(Heap& heap, ExpandableSegments& expandable, PoolIndex pool);

}  // namespace vramscope::allocator
