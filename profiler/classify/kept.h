// SPDX-License-Identifier: Apache-2.0
// Finds blocks that a program allocates between two steps and keeps for longer than a step. Examples are
// lists of results and copies of the weights.
//
// A batch is also allocated between two steps, but freed within one step:
//
//   step           2          3          4          5
//   batch          ├──────────┤                              input
//   history              ├──────────────────────────── ...   alive at the end of the next step: kept
//   best weights         ├──────────┤                        a copy of all weights: always counts as kept
//
// A block that is allocated between steps 2 and 3 belongs to step 3; its next step is step 4. For blocks of
// equal size and stack, the class counts two numbers:
//
//   kept    steps with a block that was alive at the end of the next step
//   freed   steps with a block that was freed earlier
//
// A block that was alive at the end of the next step is kept if kept >= 2 and kept >= freed. If the trace
// does not contain the next step, a block is kept if kept >= 2 and freed == 0.
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

  // True if the block was allocated between two steps and the program keeps it.
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
  // Counts distinct steps. Only steps that are followed by another step are added.
  struct Steps {
    uint32_t count = 0;
    uint32_t last = 0;
    void Add(uint32_t step) {
      if (step != last) ++count;
      last = step;
    }
  };
  struct Seen {
    Steps kept;   // steps with a block that was alive at the end of the next step
    Steps freed;  // steps with a block that was freed earlier
  };
  [[nodiscard]] Key KeyOf(const model::Block& block) const;

  const model::Run& run_;
  std::vector<model::BlockId> weight_copies_;  // ascending
  std::map<Key, Seen> seen_;
};

}  // namespace vramscope::classify
