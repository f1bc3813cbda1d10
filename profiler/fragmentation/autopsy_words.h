// SPDX-License-Identifier: Apache-2.0
// The sentences of an autopsy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/fragmentation/autopsy.h"

namespace vramscope::fragmentation {

// Fills in `reasons`, `advice` and `unknown` from the other members.
void AddWords(const Subject& subject, Autopsy& autopsy);

[[nodiscard]] std::string VerdictSentence(const Autopsy& autopsy);

// "64.0 MiB of train.py:10, allocated on stream 0, wait for stream 0x5642": at most `most` blocks, then one
// sentence for the rest.
[[nodiscard]] std::vector<std::string> WaitingSentences(const std::vector<WaitingBlock>& waiting,
                                                        size_t most);

// The block's name, else the line that allocated it, else the operator and its module. "not known" if nothing
// was recorded.
[[nodiscard]] std::string GroupTitle(const BlockText& text);

// The innermost frame in the user's own Python code, else the innermost outside PyTorch's internals. "" if
// there are no frames.
[[nodiscard]] std::string TellingFrame(const std::vector<std::string>& frames);

}  // namespace vramscope::fragmentation
