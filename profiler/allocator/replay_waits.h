// SPDX-License-Identifier: Apache-2.0
// Finds frees that a request may have waited for before it succeeded. When a request does not fit, PyTorch
// waits for frees that other streams have postponed, gives cached memory back, and tries again. If there
// was nothing to give back, the record shows only the completed frees and then the request, as if the frees
// had completed before the request began. The two cases differ in the block that the request gets: after a
// wait with expandable segments, it gets the block that grew at the end, not the best fit.
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

// Looks at the frees that completed directly before the first divergence, and returns the index of the first
// of these completions. Page mappings between them and the divergence are skipped. Empty if there are no
// completions, or if the record contradicts itself.
std::optional<size_t> CompletionsBefore(const std::vector<Event>& events, const ReplayResult& result);

}  // namespace vramscope::allocator
