// SPDX-License-Identifier: Apache-2.0
// Functions by which the caching allocator gives cached memory back to the driver.
#pragma once

#include "profiler/allocator/expandable_segments.h"
#include "profiler/allocator/heap.h"

namespace vramscope::allocator {

// Frees unused large segments of the default pool until reserved memory is below
// garbage_collection_threshold. Segments of average age or older are freed first. Requires a memory limit.
void CollectGarbage(Heap& heap);

// Gives back memory of the request's stream, as PyTorch does when max_split_size_mb is set. Oversize blocks
// are at least as large as max_split_size_mb. Gives back one oversize block that is large enough for the
// request. If there is none, gives back the largest oversize blocks until their sum is large enough.
//
// Returns false if the sum of all oversize blocks is too small. In this case all of them have been given
// back.
bool ReleaseAvailable(Heap& heap, const Heap::Request& request);

// Gives back cached segments on behalf of a request in `pool`:
//
//   - default pool: completes all pending frees, then gives back the cached segments of the default pool and
//     of ended private pools. During a graph capture, gives back only those of ended private pools
//   - private pool: if it has ended, completes its pending frees and gives back its cached segments
//
// A private pool has ended if no CUDA graph uses it any more. A pending free is a freed block that waits for
// other streams.
void ReleaseCached(Heap& heap, ExpandableSegments& expandable, PoolIndex pool);

}  // namespace vramscope::allocator
