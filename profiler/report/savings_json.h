// SPDX-License-Identifier: Apache-2.0
// What would save memory, as JSON: the few changes that a report advises, and all that were tried.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "profiler/report/savings.h"

namespace vramscope::report {

// How many changes of each kind, computed and re-run, a report advises.
inline constexpr size_t kChangesAdvised = 3;

// `advice` of docs/json.md; null where nothing could be asked.
[[nodiscard]] nlohmann::ordered_json AdviceJson(const std::optional<Savings>& savings);

// {"step", "before": {allocated_bytes, reserved_bytes}, "cases": [{title, kind, allocated_bytes,
// reserved_bytes, phase, extra_ns, code, notes}]}, what was computed before re-runs, of each the lowest peak
// first: the page's what-if table. Null without any case.
[[nodiscard]] nlohmann::ordered_json SavingsJson(const std::optional<Savings>& savings);

}  // namespace vramscope::report
