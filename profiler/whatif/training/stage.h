// SPDX-License-Identifier: Apache-2.0
// What a lever makes in the place of what it took away: blocks one after the other, in the time of the call
// that they stand for.
#pragma once

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class Stage {
 public:
  Stage(Step& step, Window time, uint32_t op, uint16_t stream, bool forward)
      : step_(step), time_(time), op_(op), stream_(stream), forward_(forward) {}

  Position Tick();
  // A block; until the end of the time where it is not freed.
  uint32_t Take(uint64_t bytes, Grows grows = Grows::kUnsaid);
  // The same of something that is there for each sample, and of something that is there once.
  uint32_t TakeEach(uint64_t bytes) { return Take(bytes, Grows::kWithBatch); }
  uint32_t TakeOnce(uint64_t bytes) { return Take(bytes, Grows::kNot); }
  void Free(uint32_t block) { step_.blocks[block].end = Tick(); }
  // What was recorded, made here now.
  void Deliver(uint32_t block);
  // Of a product of matrices.
  void Workspace(uint64_t bytes);

 private:
  Step& step_;
  const Window time_;
  const uint32_t op_;
  const uint16_t stream_;
  const bool forward_;
  int ticks_ = 0;
};

}  // namespace vramscope::whatif
