// SPDX-License-Identifier: Apache-2.0
// Finds frees that a request may have waited for before it succeeded. When a request does not fit, PyTorch
// waits for postponed frees of other streams and tries again. The record may look as if the frees had
// completed earlier. After a wait with expandable segments, the request gets a block that is extended by new
// pages, not the best fit.
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

// Returns the index of the first of the completions directly before the first divergence. Page mappings in
// between are skipped. Empty if there are no completions, or if the record contradicts itself.
std::optional<size_t> CompletionsBefore(const std::vector<Event>& events, const ReplayResult& result);

}  // namespace vramscope::allocator
