// SPDX-License-Identifier: Apache-2.0
// The sentences that a reader of a report needs to read its figures right.
#pragma once

#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/report/answer.h"

namespace vramscope::report {

// Appends to answer.notes; the rest of the answer is there already. `device`: the one that it is about, or
// kNone; `inferred_blocks`: owners taken from a deep step.
void AddNotes(const classify::Analysis& analysis, model::DeviceIndex device, uint64_t inferred_blocks,
              Answer& answer);

// Why there may be no blocks on a GPU: the program ran without PyTorch's caching allocator; "" if it did not.
[[nodiscard]] std::string CachingOff(const trace::Metadata& metadata);

}  // namespace vramscope::report
