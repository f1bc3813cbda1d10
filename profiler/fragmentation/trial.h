// SPDX-License-Identifier: Apache-2.0
// Tries another allocator setting for a request that failed. The modeled allocator serves the requests of the
// history up to the failure, with as much memory as the real device had.
//
// A trial is valid only if a replay with the recorded settings fails at the same request as the recording.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "profiler/allocator/history.h"
#include "profiler/fragmentation/layout_walk.h"
#include "trace_format/result.h"

namespace vramscope::fragmentation {

enum class TrialEnd : uint8_t {
  kFits,         // the request that failed in the recording is served
  kFails,        // the request fails again
  kFailsBefore,  // an earlier request already fails
  kFailsAfter,   // the request is served, but an upcoming request fails
};

struct Trial {
  std::string settings;  // in the syntax of PYTORCH_CUDA_ALLOC_CONF
  TrialEnd end = TrialEnd::kFails;
  Moment failed_at = 0;   // for kFailsBefore: event of the earlier request
  uint64_t served = 0;    // for kFailsAfter: number of upcoming requests that were served
  uint64_t reserved = 0;  // reserved bytes at the end of the trial
  uint64_t driver_free = 0;
};

// Tries `settings`. `failure` is the event of the failed request. `room` is the memory that the allocator may
// reserve: its reserved bytes plus the driver's free bytes. `upcoming` are the sizes of requests that would
// follow the failed request. O(events). An error explains why the settings cannot be tried.
[[nodiscard]] Result<Trial> TrySettings(const allocator::History& history, Moment failure, uint64_t room,
                                        const std::string& settings, std::span<const uint64_t> upcoming = {});

// Returns `base` with one setting added or replaced: "a:1,b:2" and "b:3" give "a:1,b:3".
[[nodiscard]] std::string WithSetting(const std::string& base, const std::string& setting);
[[nodiscard]] std::string WithoutSetting(const std::string& base, const std::string& key);
// Returns the value of `key`, such as "[256:1,>:4]"; empty if the key is not set.
[[nodiscard]] std::optional<std::string> SettingIn(const std::string& settings, const std::string& key);

}  // namespace vramscope::fragmentation
