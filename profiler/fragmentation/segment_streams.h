// SPDX-License-Identifier: Apache-2.0
// Finds the streams of segments. Driver calls do not contain the stream.
//
// A segment is allocated for a request, whose block is then the first one in it. So the stream of this block
// is the segment's stream.
#pragma once

#include <vector>

#include "profiler/allocator/history.h"

namespace vramscope::fragmentation {

// Sets `stream` in the events that allocate segments or give them back. `events` must be in order.
void FindStreamsOfSegments(std::vector<allocator::Event>& events);

}  // namespace vramscope::fragmentation
