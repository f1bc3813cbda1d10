// SPDX-License-Identifier: Apache-2.0
// The segments and blocks that were there before the first event of a history.
//
// Why: most histories begin in the middle of a run. What was there then follows from the segments at the end
// and the events: a block that is freed without having been allocated was there, and so was one that is there
// at the end and that no event names. Segments are undone backwards.
//
// What an event does not tell is the slack of a block that was there at the begin and is gone at the end: up
// to 1 MiB of a large segment behind it may be its own or free. Where a later block begins shows it
// (Layout::learned); otherwise it is taken for free.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/fragmentation/rules.h"

namespace vramscope::fragmentation {

// In order of address. `block_bytes`: the sizes that are known otherwise, by address. O(events).
[[nodiscard]] std::vector<allocator::SegmentState> InitialSegments(
    const allocator::History& history, const Rules& rules, const std::map<uint64_t, uint64_t>& block_bytes);

}  // namespace vramscope::fragmentation
