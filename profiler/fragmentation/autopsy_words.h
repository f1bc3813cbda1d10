// SPDX-License-Identifier: Apache-2.0
// Writes the sentences of an autopsy (autopsy.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/fragmentation/autopsy.h"

namespace vramscope::fragmentation {

// Sets `reasons`, `advice` and `unknown` from the other members.
void AddWords(const Subject& subject, Autopsy& autopsy);

[[nodiscard]] std::string VerdictSentence(const Autopsy& autopsy);

// Returns one sentence for each freed block that another stream may still use: "64.0 MiB of train.py:10,
// allocated on stream 0, wait for stream 0x5642." After `most` blocks, one sentence describes the others.
[[nodiscard]] std::vector<std::string> WaitingSentences(const std::vector<WaitingBlock>& waiting,
                                                        size_t most);

// Returns the block's name. Without a name, returns the line that allocated it, or else the operator and its
// module. Returns "not known" if nothing was recorded.
[[nodiscard]] std::string GroupTitle(const BlockText& text);

// Returns the innermost frame in the user's own Python code, or else the innermost frame outside PyTorch's
// internals. Returns "" if there are no frames.
[[nodiscard]] std::string TellingFrame(const std::vector<std::string>& frames);

}  // namespace vramscope::fragmentation
