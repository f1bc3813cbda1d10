// SPDX-License-Identifier: Apache-2.0
// A moment of a run, in the form that users write after --at.
//
//   peak           highest allocated bytes          oom, oom:2    a failed allocation, the second failure
//   reserved       highest reserved bytes           step:3        the peak of step 3
//   worst          most reserved but unused bytes   event:1200    after the first 1200 events of the trace
//   end            after the last event             1500000000    nanoseconds since the start of the trace
//   mono:8123456   nanoseconds of CLOCK_MONOTONIC on the recording machine
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
  // The number of a failure (0 = the failure that ended the run), a step, a number of events, or nanoseconds.
  uint64_t value = 0;
  std::string text;  // as the user wrote it
};

// The text for --at in the help. It does not mention `worst` and `reserved`, because only some commands
// accept them.
inline constexpr const char* kMomentWords =
    "peak, step:3 (the peak of step 3), oom, oom:2, end, event:1200, nanoseconds since the\n"
    "trace's start, or mono:NS (CLOCK_MONOTONIC).";

// Reads a moment from the user's text.
[[nodiscard]] Result<MomentSpec> ParseMoment(std::string_view text);

}  // namespace vramscope::timeline
