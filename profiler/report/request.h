// SPDX-License-Identifier: Apache-2.0
// The options of a report: which device, which steps and which moments it covers.
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

// Parses a range of steps: "3", or "2:5" for the steps 2 to 5. The first step is 1.
[[nodiscard]] Result<std::pair<uint32_t, uint32_t>> ParseStepRange(std::string_view text);

struct Request {
  // `device`, `pid` and `rank` select the device and process of the report. If they are not set, the rule in
  // device_choice.h selects them.
  std::optional<std::string> device;  // "cuda:0"
  std::optional<uint32_t> pid;
  std::optional<uint32_t> rank;
  std::optional<std::pair<uint32_t, uint32_t>> steps;  // first and last step; nullopt = all
  std::vector<MomentSpec> at;                          // moments to describe (--at)
  bool blocks = false;                                 // list the live blocks of each moment
  uint32_t top = 10;                                   // owners of each kind; 0 = all
  // Computes how much memory changes to the program would save. If empty, the report does not mention
  // savings.
  std::function<std::optional<Savings>(const classify::Analysis&, model::DeviceIndex)> find_savings;
};

}  // namespace vramscope::report
