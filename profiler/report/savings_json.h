// SPDX-License-Identifier: Apache-2.0
// Changes that save memory, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "profiler/report/savings.h"

namespace vramscope::report {

// A report suggests at most this many computed changes, and as many re-runs.
inline constexpr size_t kChangesAdvised = 3;

// `advice` in docs/json.md; null if nothing could be predicted.
[[nodiscard]] nlohmann::ordered_json AdviceJson(const std::optional<Savings>& savings);

// {"step", "before": {allocated_bytes, reserved_bytes}, "cases": [{title, kind, allocated_bytes,
// reserved_bytes, phase, extra_ns, code, notes}]}: the page's what-if table. Computed cases first, then
// re-runs; the lowest peak first in each. Null if there is none.
[[nodiscard]] nlohmann::ordered_json SavingsJson(const std::optional<Savings>& savings);

}  // namespace vramscope::report
