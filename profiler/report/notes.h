// SPDX-License-Identifier: Apache-2.0
// The notes of a report: sentences about missing or inferred data.
#pragma once

#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/report/answer.h"

namespace vramscope::report {

// Appends notes to answer.notes. Call this function after all other parts of `answer` are set. `device` is
// the device of the answer, or kNone. `inferred_blocks` is the number of blocks whose owners were inferred
// from a deep step.
void AddNotes(const classify::Analysis& analysis, model::DeviceIndex device, uint64_t inferred_blocks,
              Answer& answer);

// Returns a sentence if GPU blocks may be missing because PyTorch's caching allocator was off. Otherwise
// returns "".
[[nodiscard]] std::string CachingOff(const trace::Metadata& metadata);
// Returns the reason why a trace has no blocks, or "" if the reason is unknown. The result may be that of
// CachingOff().
[[nodiscard]] std::string WhyNoBlocks(const trace::Metadata& metadata);

}  // namespace vramscope::report
