// SPDX-License-Identifier: Apache-2.0
// What was hooked, as JSON: the same in every answer that has it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "profiler/model/coverage.h"

namespace vramscope::report {

// "missing", "hooked", "proven", "disabled".
[[nodiscard]] const char* CoverageStateKey(trace::CoverageState state);

// `coverage` of docs/json.md.
[[nodiscard]] nlohmann::ordered_json CoverageJson(std::span<const model::Hook> hooks);

}  // namespace vramscope::report
