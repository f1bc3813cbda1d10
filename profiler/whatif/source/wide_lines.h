// SPDX-License-Identifier: Apache-2.0
// Lines that compute in float32 where the program runs in 16 bits, and convert back themselves:
//
//   wide = x.dtype in (torch.float16, torch.bfloat16) or ...
//   y = F.normalize(x.float() if wide else x, dim=1).to(x.dtype)    model.py:206
//
// A recording in float32 has to(x.dtype), which does nothing, and that a branch on 16 bits stands in the line
// (type_branches.h); not x.float(), which did not run. What else would need to be taken back there? So it is
// put in, as a program is recorded that calls it always.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class WideLines {
 public:
  // `op`: into Step::ops; `frame`: text of a frame that it was called in, as the recorder writes it.
  void AddCaller(uint32_t op, uint32_t frame) { callers_.emplace_back(op, frame); }

  // Behind all that knows operators by their number. A line that is not sure to be one, each time that it
  // ran, stays a branch of unknown form.
  void PutIn(Step& step) const;

 private:
  std::vector<std::pair<uint32_t, uint32_t>> callers_;
};

}  // namespace vramscope::whatif
