// SPDX-License-Identifier: Apache-2.0
// A moment of a run, as users write it after --at.
//
//   peak           most is allocated                oom, oom:2    an allocation fails (the second one)
//   reserved       most is reserved                 step:3        the peak of step 3
//   worst          most is reserved and unused      event:1200    after the first 1200 events of the trace
//   end            after the last event             1500000000    nanoseconds since the trace's start
//   mono:8123456   CLOCK_MONOTONIC of the machine that recorded
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace_format/result.h"

namespace vramscope::timeline {

struct MomentSpec {
  enum class Kind : uint8_t {
    kPeak,
    kReserved,
    kWorst,
    kEnd,
    kOutOfMemory,
    kStep,
    kEvent,
    kTime,
    kMonotonic
  } kind = Kind::kPeak;
  // Failure number (0: the one that ended the run), step, event count or nanoseconds.
  uint64_t value = 0;
  std::string text;  // as the user wrote it
};

// For the help of --at. `worst` and `reserved` are missing: only some verbs accept them.
inline constexpr const char* kMomentWords =
    "peak, step:3 (the peak of step 3), oom, oom:2, end, event:1200, nanoseconds since the\n"
    "trace's start, or mono:NS (CLOCK_MONOTONIC).";

[[nodiscard]] Result<MomentSpec> ParseMoment(std::string_view text);

}  // namespace vramscope::timeline
