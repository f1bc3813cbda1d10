// SPDX-License-Identifier: Apache-2.0
// The hooks of a recording as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "profiler/model/coverage.h"

namespace vramscope::report {

// "missing", "hooked", "proven", "disabled".
[[nodiscard]] const char* CoverageStateKey(trace::CoverageState state);

// `coverage` in docs/json.md.
[[nodiscard]] nlohmann::ordered_json CoverageJson(std::span<const model::Hook> hooks);

}  // namespace vramscope::report
