// SPDX-License-Identifier: Apache-2.0
// Runs the same requests with other settings or another capacity, and returns how much memory the run would
// have used.
//
// Why: "would expandable_segments have fitted?" has an exact answer once a history is understood (replay.h).
// Every request, free and completion is known, and only the allocator's decisions change. Frees that wait for
// streams keep their recorded place, except where the model has to wait for all of them. Blocks in use before
// the first event are requested again, in order of address, from an empty allocator, because their original
// order is not known. With keep_earlier_segments they stay where they were; only later decisions change.
//
// Not repeated: torch.cuda.empty_cache(). A record does not distinguish it from a failing request that gives
// the cache back.
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
  uint64_t capacity = ModeledDriver::kUnlimited;  // bytes available to PyTorch
  // Segments from before the first event stay as they were.
  bool keep_earlier_segments = false;
  // Stops after this event or at the first request that fails. If the event is a recorded failure, its
  // request is run too.
  std::optional<uint64_t> last_event;
};

struct RerunResult {
  uint64_t requests = 0;
  uint64_t failed_requests = 0;           // they get no block
  std::optional<uint64_t> first_failure;  // event whose request ran out of memory
  PeakUse peak;                           // of the whole re-run, also after first_failure
  uint64_t driver_free = 0;               // bytes of the capacity that are free at the end
  Statistics statistics;
  std::string_view release;
  std::vector<std::string> notes;
};

// Fails with one sentence if the release refuses the settings or the history contradicts itself.
[[nodiscard]] Result<RerunResult> Rerun(const History& history, const RerunRequest& request);

}  // namespace vramscope::allocator
