// SPDX-License-Identifier: Apache-2.0
// One picture of `vramscope top`: the ranks of running jobs as they are now.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/cli/frame/terminal.h"
#include "profiler/fleet/job.h"

namespace vramscope::cli {

// A trace written less than this time ago is still being recorded. Recorders write at least every five
// seconds.
inline constexpr uint64_t kSilentNs = 15'000'000'000;

// `age_ns`, by rank: time since its trace was last written.
[[nodiscard]] std::string TopScreen(const fleet::Job& job, const std::vector<uint64_t>& age_ns,
                                    const Terminal& terminal);

}  // namespace vramscope::cli
