// SPDX-License-Identifier: Apache-2.0
// Finds frees that a failing request may have waited for. Such a request waits for frees that other streams
// postponed, gives cached memory back, and tries again. If nothing could be given back, the record shows
// completions and then the request, as if the program had continued after them. But the request found other
// free blocks than it would have then: in an expandable segment, the block that grew at its end, not the best
// fit.
//
//   completed A, completed B, alloc C      A, B completed before the request searched, or while it waited
//
// A wait is assumed only if the record is not exact otherwise.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/allocator/replay.h"

namespace vramscope::allocator {

// The index of the first completion directly before the first event that differs from the record. Empty if
// there are none, or if the record contradicts itself.
std::optional<size_t> CompletionsBefore(const std::vector<Event>& events, const ReplayResult& result);

}  // namespace vramscope::allocator
