// SPDX-License-Identifier: Apache-2.0
// Blocks that a program allocates between two steps and keeps: lists of results, copies of its weights.
//
// Why: a batch is also allocated between two steps. But a batch is gone one step later, and a kept block is
// not:
//
//   step           2          3          4          5
//   batch          ├──────────┤                              input
//   history              ├──────────────────────────── ...   alive one full step later: kept
//   best weights         ├──────────┤                        a copy of all weights, whatever its life
//
// At least two steps must keep such a block, and at least as many as free it: the last batch of a loop may
// be alive only because no garbage collection has run. No step follows the last one. Its blocks count as
// kept if all earlier blocks with the same size and stack were kept, in two steps or more.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "profiler/classify/births.h"
#include "profiler/model/run.h"
#include "profiler/timeline/training.h"

namespace vramscope::classify {

class Kept {
 public:
  // O(blocks).
  Kept(const model::Run& run, std::span<const timeline::Training> training);

  // True if a block that was allocated between two steps is kept, so it is not a batch.
  [[nodiscard]] bool ForGood(model::BlockId block, const Birth& birth) const;
  [[nodiscard]] bool IsWeightCopy(model::BlockId block) const;

 private:
  struct Key {
    model::ProcessIndex process = 0;
    uint16_t device_code = 0;
    uint64_t bytes = 0;
    uint32_t stack = 0;
    auto operator<=>(const Key&) const = default;
  };
  // Number of steps, counting only those that another step follows.
  struct Steps {
    uint32_t count = 0;
    uint32_t last = 0;
    void Add(uint32_t step) {
      if (step != last) ++count;
      last = step;
    }
  };
  struct Seen {
    Steps kept;   // a block of the step was still alive one full step later
    Steps freed;  // it was not
  };
  [[nodiscard]] Key KeyOf(const model::Block& block) const;

  const model::Run& run_;
  std::vector<model::BlockId> weight_copies_;  // ascending
  std::map<Key, Seen> seen_;
};

}  // namespace vramscope::classify
