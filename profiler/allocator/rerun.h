// SPDX-License-Identifier: Apache-2.0
// Runs the same requests with other settings, another release or another capacity: what the run would have
// taken.
//
// Why: "would expandable_segments have fitted?" has an exact answer once a history is understood (replay.h).
// Every request, free and completion is known, and only the allocator's decisions change. Frees that wait for
// streams keep their recorded place, except where the model has to wait for all of them. Blocks in use before
// the first event are requested again, in order of address, from an empty allocator, because their original
// order is not known. Alternatively they stay where they were, to answer what would have happened from then
// on.
//
// Not repeated: torch.cuda.empty_cache(). No record distinguishes it from a cache that a failing request gave
// back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/allocator/modeled_driver.h"
#include "profiler/allocator/replay.h"
#include "profiler/allocator/settings.h"

namespace vramscope::allocator {

struct RerunRequest {
  std::string settings;
  uint64_t capacity = ModeledDriver::kUnlimited;  // bytes that PyTorch can have
  // Memory from before the first event stays as it was.
  bool keep_earlier_segments = false;
  // Stops at this event or at the first request that fails. If the event is a recorded failure, its request
  // is made.
  std::optional<uint64_t> last_event;
};

struct RerunResult {
  uint64_t requests = 0;
  uint64_t failed_requests = 0;           // their blocks are missing from then on
  std::optional<uint64_t> first_failure;  // event whose request ran out of memory
  PeakUse peak;                           // before and after it
  uint64_t driver_free = 0;               // at the end, within the capacity
  Statistics statistics;
  std::string_view release;
  std::vector<std::string> notes;
};

// An error is one sentence: settings that the release refuses, or a history that contradicts itself.
[[nodiscard]] Result<RerunResult> Rerun(const History& history, const RerunRequest& request);

}  // namespace vramscope::allocator
