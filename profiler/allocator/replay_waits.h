// SPDX-License-Identifier: Apache-2.0
// Finds frees that a request may have waited for before it succeeded. If a request does not fit, PyTorch
// waits until frees that are postponed because of other streams are completed, and tries again. In the
// recording, the frees may then appear as completed before the request. With expandable segments, a request
// that waited gets a block that is extended by new pages. Without a wait, it would have got the best-fit
// block.
//
//   completed A, completed B, alloc C      A and B completed either before C's search or while C waited
//
// A wait is assumed only if the replay does not reproduce the recording without it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/allocator/replay.h"

namespace vramscope::allocator {

// Returns the index of the first of the completed frees that lie directly before the first divergence of the
// replay. Page mappings between these frees and the divergence are skipped. Returns nullopt if there are no
// such frees, or if the recording contradicts itself.
std::optional<size_t> CompletionsBefore(const std::vector<Event>& events, const ReplayResult& result);

}  // namespace vramscope::allocator
