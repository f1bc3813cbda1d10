// SPDX-License-Identifier: Apache-2.0
// The notes of a report.
#pragma once

#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/report/answer.h"

namespace vramscope::report {

// Appends to answer.notes. Call it last. `device`: the answer's, or kNone. `inferred_blocks`: blocks whose
// owners come from a deep step.
void AddNotes(const classify::Analysis& analysis, model::DeviceIndex device, uint64_t inferred_blocks,
              Answer& answer);

// Why GPU blocks may be missing: PyTorch's caching allocator was off. "" if it was on.
[[nodiscard]] std::string CachingOff(const trace::Metadata& metadata);
// Why a trace has no blocks at all, CachingOff() included; "" = not known.
[[nodiscard]] std::string WhyNoBlocks(const trace::Metadata& metadata);

}  // namespace vramscope::report
