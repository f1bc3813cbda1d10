// SPDX-License-Identifier: Apache-2.0
// Finds the stream of each segment. Recorded driver calls do not contain the stream, so a segment gets the
// stream of the first block that is allocated in it.
#pragma once

#include <vector>

#include "profiler/allocator/history.h"

namespace vramscope::fragmentation {

// Sets `stream` in the events that allocate or free segments. `events` must be in order.
void FindStreamsOfSegments(std::vector<allocator::Event>& events);

}  // namespace vramscope::fragmentation
