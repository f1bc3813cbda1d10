// SPDX-License-Identifier: Apache-2.0
// Predictions as text and as JSON (docs/json.md).
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
  std::string failed;  // report::HowItFailed()
  const whatif::Step* step = nullptr;
  const whatif::Baseline* baseline = nullptr;
  std::vector<WhatifCase> cases;         // the given options first, then the rest of a sweep or comparison
  bool table = false;                    // true: a sweep or a comparison
  std::optional<uint64_t> beside_bytes;  // used outside PyTorch's reserved memory; nullopt: not recorded
};

[[nodiscard]] std::string WhatifText(const WhatifAnswer& answer, const Terminal& terminal);
[[nodiscard]] std::string WhatifJson(const WhatifAnswer& answer);

// Parts of the JSON document. `beside_bytes`: other memory on the device. Without it, the document has no
// figure for the device.
[[nodiscard]] nlohmann::ordered_json UseJson(const whatif::Use& use, std::optional<uint64_t> beside_bytes);
[[nodiscard]] nlohmann::ordered_json BandJson(const whatif::Prediction& prediction);
[[nodiscard]] nlohmann::ordered_json LeversJson(const whatif::Prediction& prediction);

}  // namespace vramscope::cli
