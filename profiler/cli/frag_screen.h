// SPDX-License-Identifier: Apache-2.0
// The text output of `vramscope frag`.
#pragma once

#include <string>
#include <vector>

#include "profiler/cli/terminal.h"
#include "profiler/fragmentation/answer.h"

namespace vramscope::cli {

[[nodiscard]] std::string FragScreen(const std::string& path, const fragmentation::Subject& subject,
                                     const fragmentation::Answer& answer, const Terminal& terminal);

// Parts that `vramscope oom` prints too.
[[nodiscard]] std::string CauseTable(const fragmentation::Decomposition& causes, const Terminal& terminal);
[[nodiscard]] std::string SegmentTable(const fragmentation::Subject& subject,
                                       const std::vector<fragmentation::SegmentAnswer>& segments,
                                       const Terminal& terminal);
// "layers.0.weight", or the frame closest to the user's code, or "0x7f..."
[[nodiscard]] std::string BlockTitle(const fragmentation::Block& block, const fragmentation::BlockText& text);
// "stream 0x5f.., pool {0, 1}"; "" for the default stream and pool.
[[nodiscard]] std::string DomainTitle(const fragmentation::Subject& subject, allocator::PoolIndex pool,
                                      allocator::StreamIndex stream);

}  // namespace vramscope::cli
