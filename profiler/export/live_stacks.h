// SPDX-License-Identifier: Apache-2.0
// The live bytes at one moment, by allocating stack: the data for flame graphs.
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

// The live stacks at the content's moment, without the interpreter's own frames. Without a recorded stack:
// the module, the autograd node and the operator. The bytes sum to the allocated bytes. Bytes whose
// allocation was not recorded have the frame "not seen".
[[nodiscard]] std::vector<LiveStack> FindLiveStacks(const Content& content);

}  // namespace vramscope::exporting
