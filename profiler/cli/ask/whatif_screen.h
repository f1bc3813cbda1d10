// SPDX-License-Identifier: Apache-2.0
// Formats the answers of `vramscope whatif` as text and as JSON (docs/json.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "profiler/cli/frame/terminal.h"
#include "profiler/experiment/answerer.h"
#include "profiler/report/device_choice.h"
#include "profiler/whatif/answer/predict.h"

namespace vramscope::cli {

using experiment::AnswerKind;
using experiment::WhatifCase;

struct WhatifAnswer {
  std::string path;
  report::Spoken spoken;
  std::string failed;  // how the recorded run failed (report::HowItFailed()); "" if it did not
  const whatif::Step* step = nullptr;
  const whatif::Baseline* baseline = nullptr;
  std::vector<WhatifCase> cases;  // the given options first, then the other cases of a sweep or comparison
  bool table = false;             // true for a sweep or a comparison: one row per case
  std::optional<uint64_t> beside_bytes;  // device memory in use outside PyTorch; nullopt if not recorded
};

[[nodiscard]] std::string WhatifText(const WhatifAnswer& answer, const Terminal& terminal);
[[nodiscard]] std::string WhatifJson(const WhatifAnswer& answer);

// Parts of the JSON document. `beside_bytes` is the device memory in use outside PyTorch. If it is nullopt,
// the document has no figure for the whole device.
[[nodiscard]] nlohmann::ordered_json UseJson(const whatif::Use& use, std::optional<uint64_t> beside_bytes);
[[nodiscard]] nlohmann::ordered_json BandJson(const whatif::Prediction& prediction);
[[nodiscard]] nlohmann::ordered_json LeversJson(const whatif::Prediction& prediction);

}  // namespace vramscope::cli
