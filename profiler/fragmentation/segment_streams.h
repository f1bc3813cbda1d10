// SPDX-License-Identifier: Apache-2.0
// Finds the streams of segments, which driver calls do not contain. A segment has the stream of its first
// block.
#pragma once

#include <vector>

#include "profiler/allocator/history.h"

namespace vramscope::fragmentation {

// Sets `stream` in the events that allocate or give back segments. `events` must be in order.
void FindStreamsOfSegments(std::vector<allocator::Event>& events);

}  // namespace vramscope::fragmentation
