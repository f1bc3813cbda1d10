// SPDX-License-Identifier: Apache-2.0
// What a record does not tell of a request that failed at first: it waits for the frees that other streams put
// off, gives cached memory back, and tries again. Where nothing could be given back, the record shows
// completions and then the request, as if the program had gone on after them; but the request has found other
// room than it would have: in an expandable segment, what has grown at its end, not what fits best.
//
//   completed A, completed B, alloc C      A, B went before the request searched, or while it waited
//
// That it waited is only assumed where the record is not exact otherwise.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/allocator/replay.h"

namespace vramscope::allocator {

// Where the completions begin that are in front of the first event that is not as recorded; nothing, if there
// are none, or if the record contradicts itself.
std::optional<size_t> CompletionsBefore(const std::vector<Event>& events, const ReplayResult& result);

}  // namespace vramscope::allocator
