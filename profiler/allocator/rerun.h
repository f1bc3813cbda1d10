// SPDX-License-Identifier: Apache-2.0
// Runs the requests of a recording again with other allocator settings or another capacity, and returns the
// memory that the run would use.
//
// Every request, free and completion is as recorded. Only the allocator's decisions change. Frees that wait
// for streams complete where the recording completed them, unless the modeled allocator has to wait for all
// streams earlier. Blocks that were in use before the first event are requested in order of address, because
// their original order is not known.
//
// Calls of torch.cuda.empty_cache() are not repeated. In a recording, a call of empty_cache() looks like a
// failing request that gives the cache back.
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
  // Segments from before the first event stay as they were. Only later decisions change.
  bool keep_earlier_segments = false;
  // If set, the run stops after this event or at the first request that fails. A request that failed in the
  // recording is run too.
  std::optional<uint64_t> last_event;
};

struct RerunResult {
  uint64_t requests = 0;
  uint64_t failed_requests = 0;           // requests that got no block
  std::optional<uint64_t> first_failure;  // event whose request ran out of memory
  PeakUse peak;                           // peak of the whole re-run, also after first_failure
  uint64_t driver_free = 0;
  Statistics statistics;
  std::string_view release;
  std::vector<std::string> notes;
};

// Fails if the release refuses the settings or the history contradicts itself.
[[nodiscard]] Result<RerunResult> Rerun(const History& history, const RerunRequest& request);

}  // namespace vramscope::allocator
