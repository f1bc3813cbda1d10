// SPDX-License-Identifier: Apache-2.0
// The JSON form of a report. docs/json.md is its description; keys come in a fixed order, so two equal
// answers give equal text.
#pragma once

#include <string>

#include "profiler/report/answer.h"

namespace vramscope::report {

inline constexpr int kSchemaVersion = 1;

// `indent` as nlohmann::json::dump takes it: -1 = one line. Bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string ToJson(const Answer& answer, int indent = 2);

}  // namespace vramscope::report
