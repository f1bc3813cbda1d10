// SPDX-License-Identifier: Apache-2.0
// Tries another setting: runs the requests of a history up to a failure through the allocator's model, with
// as much memory as the real device had.
//
// A trial is valid only if a replay with the recorded settings fails where the record failed.
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
  kFits,         // the request that failed is served
  kFails,        // the request fails too
  kFailsBefore,  // an earlier request already fails
  kFailsAfter,   // the request is served, but a later request in its phase fails
};

struct Trial {
  std::string settings;  // as PYTORCH_CUDA_ALLOC_CONF
  TrialEnd end = TrialEnd::kFails;
  Moment failed_at = 0;   // for kFailsBefore: the event
  uint64_t served = 0;    // for kFailsAfter: number of served later requests
  uint64_t reserved = 0;  // at the end
  uint64_t driver_free = 0;
};

// `failure`: event of the failed request. `room`: memory available to the allocator, its reserved bytes plus
// the driver's free bytes. `upcoming`: bytes of requests that will follow. O(events). An error explains why
// the settings cannot be tried.
[[nodiscard]] Result<Trial> TrySettings(const allocator::History& history, Moment failure, uint64_t room,
                                        const std::string& settings, std::span<const uint64_t> upcoming = {});

// "a:1,b:2" and "b:3" give "a:1,b:3".
[[nodiscard]] std::string WithSetting(const std::string& base, const std::string& setting);
[[nodiscard]] std::string WithoutSetting(const std::string& base, const std::string& key);
// "[256:1,>:4]"; empty if the key is not set.
[[nodiscard]] std::optional<std::string> SettingIn(const std::string& settings, const std::string& key);

}  // namespace vramscope::fragmentation
