// SPDX-License-Identifier: Apache-2.0
// The streams of segments, which the driver does not know.
//
// Memory is taken for a request, whose block is then the first in it: its stream is the segment's.
#pragma once

#include <vector>

#include "profiler/allocator/history.h"

namespace vramscope::fragmentation {

// Sets `stream` of the events by which segments come and go; `events` in their order.
void FindStreamsOfSegments(std::vector<allocator::Event>& events);

}  // namespace vramscope::fragmentation
