// SPDX-License-Identifier: Apache-2.0
// Converts an optional value to JSON: null if the value is unknown.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace vramscope::text {

template <typename T>
[[nodiscard]] nlohmann::ordered_json OrNull(const std::optional<T>& value) {
  return value.has_value() ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace vramscope::text
