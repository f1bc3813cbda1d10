// SPDX-License-Identifier: Apache-2.0
// Names of blocks and of parts of the allocator, as the command and the viewer show them.
#pragma once

#include <string>

#include "profiler/fragmentation/answer.h"

namespace vramscope::fragmentation {

// "layers.0.weight", or the frame that is nearest to the user's code, or "0x7f..."
[[nodiscard]] std::string BlockTitle(const Block& block, const BlockText& text);
// "stream 0x5f.., pool {0, 1}"; "" for the default stream and pool.
[[nodiscard]] std::string DomainTitle(const Subject& subject, allocator::PoolIndex pool,
                                      allocator::StreamIndex stream);

}  // namespace vramscope::fragmentation
