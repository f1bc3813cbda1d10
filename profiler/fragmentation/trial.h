// SPDX-License-Identifier: Apache-2.0
// "And with this setting?": the requests of a history up to a failure, put through the model of PyTorch's
// allocator under other settings, on a device that has as much room as the real one had.
//
// Why replay and not a rule of thumb: whether expandable segments or a split limit would have fitted a
// request depends on every allocation before it. The same replay under the recorded settings must fail where
// the record failed; otherwise the room or the history is not known well enough, and nothing is proved.
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
  kFails,        // it fails here too
  kFailsBefore,  // an earlier request fails already
  kFailsAfter,   // the request is served, and one of those that follow in its phase fails
};

struct Trial {
  std::string settings;  // as PYTORCH_CUDA_ALLOC_CONF
  TrialEnd end = TrialEnd::kFails;
  Moment failed_at = 0;   // of kFailsBefore: the event
  uint64_t served = 0;    // of kFailsAfter: requests that follow and are served
  uint64_t reserved = 0;  // when it ended
  uint64_t driver_free = 0;
};

// `failure` is the event of the history that failed; its bytes are requested. `room` is what the allocator
// can have in all: what it had reserved then, and what the driver had left. `upcoming`: bytes of requests
// that are known to follow. O(events). An error says why the settings cannot be tried.
[[nodiscard]] Result<Trial> TrySettings(const allocator::History& history, Moment failure, uint64_t room,
                                        const std::string& settings, std::span<const uint64_t> upcoming = {});

// `base` with one key changed or added: "a:1,b:2" and "b:3" give "a:1,b:3".
[[nodiscard]] std::string WithSetting(const std::string& base, const std::string& setting);
[[nodiscard]] std::string WithoutSetting(const std::string& base, const std::string& key);
// The value of a key: "[256:1,>:4]"; nothing where it is not set.
[[nodiscard]] std::optional<std::string> SettingIn(const std::string& settings, const std::string& key);

}  // namespace vramscope::fragmentation
