// SPDX-License-Identifier: Apache-2.0
// The sentences of an autopsy: why the free memory did not serve the request, what to change, and what the
// file does not record.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/fragmentation/autopsy.h"

namespace vramscope::fragmentation {

// Fills in `reasons`, `advice` and `unknown` from the other members.
void AddWords(const Subject& subject, Autopsy& autopsy);

// The verdict as one sentence with its numbers.
[[nodiscard]] std::string VerdictSentence(const Autopsy& autopsy);

// "64.0 MiB of train.py:10, allocated on stream 0, wait for stream 0x5642": one sentence per block, at most
// `most`, and one for the rest.
[[nodiscard]] std::vector<std::string> WaitingSentences(const std::vector<WaitingBlock>& waiting,
                                                        size_t most);

// The title of the group that a block belongs to, as in a report: its name, else the line that allocated it,
// else the operator and its module. "not known" if nothing was recorded.
[[nodiscard]] std::string GroupTitle(const BlockText& text);

// The frame that is most useful to the program's author: the innermost one in their own Python code, else the
// innermost one outside PyTorch's internals. "" if there are no frames.
[[nodiscard]] std::string TellingFrame(const std::vector<std::string>& frames);

}  // namespace vramscope::fragmentation
