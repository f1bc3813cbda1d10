// SPDX-License-Identifier: Apache-2.0
// The live bytes at one moment, by the place in the program that allocated them: the data for flame graphs.
#pragma once

#include <string>
#include <vector>

#include "profiler/export/content.h"

namespace vramscope::exporting {

struct LiveStack {
  std::vector<std::string> frames;  // cleaned, outermost first; the last one is the category
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

// The live stacks at the content's moment. Frames are those of the recorded stack, without the interpreter's
// own frames. If there is no stack, the frames are the module, the autograd node and the operator, as far as
// known. The bytes sum to the allocated bytes. Bytes whose allocation was not recorded have the frame "not
// seen".
[[nodiscard]] std::vector<LiveStack> FindLiveStacks(const Content& content);

}  // namespace vramscope::exporting
