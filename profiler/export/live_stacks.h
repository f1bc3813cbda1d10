// SPDX-License-Identifier: Apache-2.0
// The bytes that are alive at a moment, by where in the program they come from: what flame graphs draw.
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

// Of the content's moment, by frames. Frames are those of the recorded stack without the interpreter's; where
// there is none the module, the autograd node and the operator as far as they are known; the sum of bytes is
// the moment's. Bytes whose allocation was not seen have the frame "not seen".
[[nodiscard]] std::vector<LiveStack> FindLiveStacks(const Content& content);

}  // namespace vramscope::exporting
