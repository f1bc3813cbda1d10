// SPDX-License-Identifier: Apache-2.0
// The request for a report.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/classify/analysis.h"
#include "profiler/report/savings.h"
#include "profiler/timeline/moment_spec.h"
#include "trace_format/result.h"

namespace vramscope::report {

using timeline::MomentSpec;
using timeline::ParseMoment;

// Parses "3" or "2:5" (inclusive).
[[nodiscard]] Result<std::pair<uint32_t, uint32_t>> ParseStepRange(std::string_view text);

struct Request {
  // Selects device and process; device_choice.h has the rule if these are not set.
  std::optional<std::string> device;  // "cuda:0"
  std::optional<uint32_t> pid;
  std::optional<uint32_t> rank;
  std::optional<std::pair<uint32_t, uint32_t>> steps;
  std::vector<MomentSpec> at;
  bool blocks = false;  // list the live blocks of each moment
  uint32_t top = 10;    // owners of each kind; 0 = all
  // Computes what changes to the program would save; empty = the report does not mention savings.
  std::function<std::optional<Savings>(const classify::Analysis&, model::DeviceIndex)> find_savings;
};

}  // namespace vramscope::report
