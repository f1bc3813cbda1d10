// SPDX-License-Identifier: Apache-2.0
// Runs the same requests with other settings or another capacity, and returns the memory that the run would
// use.
//
// Every request, free and completion is as recorded. Only the allocator's decisions change. Frees that wait
// for streams keep their recorded place, unless the model has to wait for all of them. Blocks in use before
// the first event are requested again in order of address. Their original order is not known.
//
// Not repeated: torch.cuda.empty_cache(). A record does not distinguish empty_cache() from a failing request
// that gives the cache back.
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
  // Stops after this event or at the first request that fails. The request of a recorded failure is run too.
  std::optional<uint64_t> last_event;
};

struct RerunResult {
  uint64_t requests = 0;
  uint64_t failed_requests = 0;           // they get no block
  std::optional<uint64_t> first_failure;  // event whose request ran out of memory
  PeakUse peak;                           // of the whole re-run, also after first_failure
  uint64_t driver_free = 0;
  Statistics statistics;
  std::string_view release;
  std::vector<std::string> notes;
};

// Fails if the release refuses the settings or the history contradicts itself.
[[nodiscard]] Result<RerunResult> Rerun(const History& history, const RerunRequest& request);

}  // namespace vramscope::allocator
