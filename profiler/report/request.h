// SPDX-License-Identifier: Apache-2.0
// What a report is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::report {

// A moment as it is asked for: "peak", "step:3" (the peak of that step), "1500000000" (nanoseconds since the
// trace's start), or "mono:812345678901234" (CLOCK_MONOTONIC of the machine that recorded).
struct MomentSpec {
  enum class Kind : uint8_t { kPeak, kStep, kTime, kMonotonic } kind = Kind::kPeak;
  uint64_t value = 0;
  std::string text;  // as it was written
};
[[nodiscard]] Result<MomentSpec> ParseMoment(std::string_view text);

// "3" or "2:5" (both included).
[[nodiscard]] Result<std::pair<uint32_t, uint32_t>> ParseStepRange(std::string_view text);

struct Request {
  std::optional<std::string> device;  // "cuda:0"; default: the one with the largest peak, CUDA before CPU
  std::optional<uint32_t> pid;        // default: the process with the largest peak on the device
  std::optional<std::pair<uint32_t, uint32_t>> steps;
  std::vector<MomentSpec> at;
  bool blocks = false;   // list the live blocks of each moment
  uint32_t top = 10;     // owners of each kind; 0 = all
  bool savings = false;  // ask what changes to the program would save
};

}  // namespace vramscope::report
