// SPDX-License-Identifier: Apache-2.0
// Finds the streams of segments, which the driver does not know.
//
// A segment is taken for a request whose block is then the first in it. So the stream of that block is the
// segment's stream.
#pragma once

#include <vector>

#include "profiler/allocator/history.h"

namespace vramscope::fragmentation {

// Sets `stream` of the events that take segments or give them back. `events` must be in order.
void FindStreamsOfSegments(std::vector<allocator::Event>& events);

}  // namespace vramscope::fragmentation
