// SPDX-License-Identifier: Apache-2.0
// Formats one screen of `vramscope top`: the current memory use of the ranks of running jobs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/cli/frame/terminal.h"
#include "profiler/fleet/job.h"

namespace vramscope::cli {

// A trace counts as being recorded if it was written within this time. Recorders write at least every five
// seconds.
inline constexpr uint64_t kSilentNs = 15'000'000'000;

// `age_ns` contains, for each rank, the nanoseconds since its trace was last written.
[[nodiscard]] std::string TopScreen(const fleet::Job& job, const std::vector<uint64_t>& age_ns,
                                    const Terminal& terminal);

}  // namespace vramscope::cli
