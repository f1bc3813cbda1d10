// SPDX-License-Identifier: Apache-2.0
// Formats the answer of `vramscope dryrun` as text and as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "profiler/cli/frame/terminal.h"
#include "profiler/experiment/dryrun/dryrun_run.h"

namespace vramscope::cli {

using experiment::DryrunResult;

// Returns the text that is printed above the report of one dry run: whether the program fits on the GPU, and
// the assumptions.
std::string VerdictText(const DryrunResult& result, const Terminal& terminal);
// Returns the whole answer: the JSON of the report and of the dry run.
std::string VerdictJson(const DryrunResult& result);

// Returns the last sentence of the text: the figures are simulated. It also tells whether sizes that depend
// on computed values are lower or upper bounds.
std::string SimulatedSentence(const DryrunResult& result);
// Returns `capacity` - `used`, at least 0.
uint64_t BytesLeft(uint64_t capacity, uint64_t used);
// Returns a sentence that tells why the run was ended early; "" if it ran to its end.
std::string StopSentence(const DryrunResult& result);
nlohmann::ordered_json PeakJson(const DryrunResult& result);
// Returns the assumptions about computed values; null if there are none.
nlohmann::ordered_json AssumedJson(const DryrunResult& result);

}  // namespace vramscope::cli
