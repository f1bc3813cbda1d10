// SPDX-License-Identifier: Apache-2.0
// The answer of `vramscope dryrun` as text and as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "profiler/cli/frame/terminal.h"
#include "profiler/experiment/dryrun/dryrun_run.h"

namespace vramscope::cli {

using experiment::DryrunResult;

// Printed above the report of one run.
std::string VerdictText(const DryrunResult& result, const Terminal& terminal);
std::string VerdictJson(const DryrunResult& result);

// The last line: the kind of the figures, and the bounds if memory depends on data.
std::string SimulatedSentence(const DryrunResult& result);
uint64_t BytesLeft(uint64_t capacity, uint64_t used);
// Why the run was stopped early; "" if it was not.
std::string StopSentence(const DryrunResult& result);
nlohmann::ordered_json PeakJson(const DryrunResult& result);
nlohmann::ordered_json AssumedJson(const DryrunResult& result);

}  // namespace vramscope::cli
