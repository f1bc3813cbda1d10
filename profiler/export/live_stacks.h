// SPDX-License-Identifier: Apache-2.0
// Computes the bytes that are live at one moment, by the stack that allocated them. The result is the data of
// a flame graph.
#pragma once

#include <string>
#include <vector>

#include "profiler/export/content.h"

namespace vramscope::exporting {

struct LiveStack {
  std::vector<std::string> frames;  // outermost first; the last is the category
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

// Returns the stacks of the blocks that are live at the content's moment, without the frames of the Python
// interpreter itself. For a block without a recorded stack, the frames are the module, the autograd node and
// the operator. The sum of the bytes equals the allocated bytes. If the allocation of a block was not
// recorded, its frame is "not seen".
[[nodiscard]] std::vector<LiveStack> FindLiveStacks(const Content& content);

}  // namespace vramscope::exporting
