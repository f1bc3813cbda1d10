// SPDX-License-Identifier: Apache-2.0
// The same requests under other settings, another release or another capacity: what the run would have taken.
//
// Why: "would expandable_segments have fitted?" has an exact answer once a history is understood (replay.h):
// every request, free and completion is known, and only the allocator's decisions change. Frees that wait for
// streams keep their recorded place, except where the model has to wait for all of them. What was in use
// before the first event is asked for again, in order of address, into an empty allocator: the order in which
// the program asked for it is not known. Or it is left where it was, for the question what would have
// happened from then on.
//
// Not asked again: torch.cuda.empty_cache(), which no record tells from a cache that a failing request gave
// back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/allocator/modelled_driver.h"
#include "profiler/allocator/replay.h"
#include "profiler/allocator/settings.h"

namespace vramscope::allocator {

struct RerunRequest {
  std::string settings;
  uint64_t capacity = ModelledDriver::kUnlimited;  // bytes that PyTorch can have
  // What was there before the first event stays as it was.
  bool keep_earlier_segments = false;
  // Runs no further than this event, and no further than the first request that fails. If it is a recorded
  // failure, its request is asked for.
  std::optional<uint64_t> last_event;
};

struct RerunResult {
  uint64_t requests = 0;
  uint64_t failed_requests = 0;           // their blocks are missing from then on
  std::optional<uint64_t> first_failure;  // event whose request ran out of memory
  PeakUse peak;                           // before and after it
  uint64_t driver_free = 0;               // at the end, of the capacity
  Statistics statistics;
  std::string_view release;
  std::vector<std::string> notes;
};

// An error is one sentence: settings that the release refuses, a history that contradicts itself.
[[nodiscard]] Result<RerunResult> Rerun(const History& history, const RerunRequest& request);

}  // namespace vramscope::allocator
