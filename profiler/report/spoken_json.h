// SPDX-License-Identifier: Apache-2.0
// Writes the device and process of an answer as JSON, with the same keys in every document.
#pragma once

#include <nlohmann/json.hpp>

#include "profiler/report/device_choice.h"
#include "profiler/text/or_null.h"

namespace vramscope::report {

// Adds "device", "process", "rank" and "others". "device" and "process" are null if nothing was allocated.
inline void AddSpoken(const Spoken& spoken, nlohmann::ordered_json& document) {
  const bool any = !spoken.device.empty();
  document["device"] = any ? nlohmann::ordered_json(spoken.device) : nlohmann::ordered_json(nullptr);
  document["process"] = any ? nlohmann::ordered_json(spoken.pid) : nlohmann::ordered_json(nullptr);
  document["rank"] = text::OrNull(spoken.rank);
  document["others"] = spoken.others;
}

}  // namespace vramscope::report
