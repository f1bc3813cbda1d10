// SPDX-License-Identifier: Apache-2.0
// Tries another setting: runs the requests of a history up to a failure through the allocator's model, on a
// device with as much memory as the real device had.
//
// Why a replay and not a rule of thumb: whether a setting would have served a request depends on every
// allocation before it. The same replay with the recorded settings must fail where the record failed.
// Otherwise the memory or the history is not known well enough, and the replay proves nothing.
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
  kFails,        // it fails with this setting too
  kFailsBefore,  // an earlier request already fails
  kFailsAfter,   // it is served, but a later request in its phase fails
};

struct Trial {
  std::string settings;  // as PYTORCH_CUDA_ALLOC_CONF
  TrialEnd end = TrialEnd::kFails;
  Moment failed_at = 0;   // for kFailsBefore: the event
  uint64_t served = 0;    // for kFailsAfter: number of following requests that are served
  uint64_t reserved = 0;  // at the end
  uint64_t driver_free = 0;
};

// `failure` is the event of the failed request. `room` is the total memory available to the allocator: its
// reserved bytes at that time plus the driver's free bytes. `upcoming`: bytes of requests that are known to
// follow. O(events). The error is the reason why the settings cannot be tried.
[[nodiscard]] Result<Trial> TrySettings(const allocator::History& history, Moment failure, uint64_t room,
                                        const std::string& settings, std::span<const uint64_t> upcoming = {});

// `base` with one key changed or added: "a:1,b:2" and "b:3" give "a:1,b:3".
[[nodiscard]] std::string WithSetting(const std::string& base, const std::string& setting);
[[nodiscard]] std::string WithoutSetting(const std::string& base, const std::string& key);
// The value of a key: "[256:1,>:4]"; empty if it is not set.
[[nodiscard]] std::optional<std::string> SettingIn(const std::string& settings, const std::string& key);

}  // namespace vramscope::fragmentation
