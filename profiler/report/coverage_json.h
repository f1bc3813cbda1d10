// SPDX-License-Identifier: Apache-2.0
// The hooks of a recording as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "profiler/model/coverage.h"

namespace vramscope::report {

// Returns "missing", "hooked", "proven" or "disabled".
[[nodiscard]] const char* CoverageStateKey(trace::CoverageState state);

// Returns the object `coverage` of docs/json.md.
[[nodiscard]] nlohmann::ordered_json CoverageJson(std::span<const model::Hook> hooks);

}  // namespace vramscope::report
