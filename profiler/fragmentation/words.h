// SPDX-License-Identifier: Apache-2.0
// Names of blocks and of parts of the allocator, as the command and the viewer show them.
#pragma once

#include <string>

#include "profiler/fragmentation/answer.h"

namespace vramscope::fragmentation {

// Returns the block's name; without a name, the frame nearest to the user's code; otherwise "allocation 12"
// or the address.
[[nodiscard]] std::string BlockTitle(const Block& block, const BlockText& text);
// Returns the stream and the pool in words: "stream 0x5f.., pool (0, 1)". Returns "" for the default stream
// and pool.
[[nodiscard]] std::string DomainTitle(const Subject& subject, allocator::PoolIndex pool,
                                      allocator::StreamIndex stream);

}  // namespace vramscope::fragmentation
