// SPDX-License-Identifier: Apache-2.0
// Formats a report as JSON (docs/json.md). Keys have a fixed order, so equal answers have equal texts.
#pragma once

#include <string>

#include "profiler/report/answer.h"

namespace vramscope::report {

inline constexpr int kSchemaVersion = 1;

// `indent` as in nlohmann::json::dump: -1 = one line. Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string ToJson(const Answer& answer, int indent = 2);

}  // namespace vramscope::report
