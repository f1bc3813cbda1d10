// SPDX-License-Identifier: Apache-2.0
// Changes that save memory, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "profiler/report/savings.h"

namespace vramscope::report {

// A report suggests at most this number of computed changes, and at most this number of re-runs.
inline constexpr size_t kChangesAdvised = 3;

// Returns the object `advice` of docs/json.md, or null if nothing could be predicted.
[[nodiscard]] nlohmann::ordered_json AdviceJson(const std::optional<Savings>& savings);

// Returns the data of the what-if table in the HTML report: {"step", "before": {allocated_bytes,
// reserved_bytes}, "cases": [{title, kind, allocated_bytes, reserved_bytes, phase, extra_ns, code, notes}]}.
// Computed cases come first, then re-runs. Each group is ordered by peak, lowest first. Null if there are no
// cases.
[[nodiscard]] nlohmann::ordered_json SavingsJson(const std::optional<Savings>& savings);

}  // namespace vramscope::report
