// SPDX-License-Identifier: Apache-2.0
// The notes of a report: what a reader must know to understand its figures.
#pragma once

#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/report/answer.h"

namespace vramscope::report {

// Appends to answer.notes; the rest of the answer must be complete. `device`: the answer's device, or kNone;
// `inferred_blocks`: blocks whose owners come from a deep step.
void AddNotes(const classify::Analysis& analysis, model::DeviceIndex device, uint64_t inferred_blocks,
              Answer& answer);

// Why there may be no GPU blocks: the program ran without PyTorch's caching allocator; "" if it ran with it.
[[nodiscard]] std::string CachingOff(const trace::Metadata& metadata);
// Why a trace of a run has no blocks at all, CachingOff() included; "" = no reason known.
[[nodiscard]] std::string WhyNoBlocks(const trace::Metadata& metadata);

}  // namespace vramscope::report
