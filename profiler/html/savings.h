// SPDX-License-Identifier: Apache-2.0
// The page's what-if table: the usual changes to a training program, asked of the what-if library.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiler/classify/analysis.h"

namespace vramscope::html {

// {"before": {allocated_bytes, reserved_bytes}, "cases": [{title, allocated_bytes, reserved_bytes, phase,
// extra_ns, code, notes}]}, lowest peak first: what `vramscope whatif RUN --compare TITLE` answers. Only
// changes that every lever takes and that change a peak; null when the run lacks what an answer needs.
[[nodiscard]] nlohmann::ordered_json Savings(const classify::Analysis& analysis, model::DeviceIndex device);

}  // namespace vramscope::html
