// SPDX-License-Identifier: Apache-2.0
// Finds blocks that a program allocates between two steps and keeps: lists of results, copies of its weights.
//
// A batch is also allocated between two steps, but freed within one step:
//
//   step           2          3          4          5
//   batch          ├──────────┤                              input
//   history              ├──────────────────────────── ...   alive one full step later: kept
//   best weights         ├──────────┤                        a copy of all weights, whatever its life
//
// Blocks of equal size and stack are compared across steps. A block that outlives the next step is kept if at
// least two steps have such a block, and no more steps have one that is freed earlier. A block of the last
// step is kept if two or more earlier steps have one that outlived the next step, and none has one that was
// freed earlier.
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

  // True if the program keeps the block.
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
    Steps kept;   // steps with a block that was alive one full step later
    Steps freed;  // steps with a block that was freed earlier
  };
  [[nodiscard]] Key KeyOf(const model::Block& block) const;

  const model::Run& run_;
  std::vector<model::BlockId> weight_copies_;  // ascending
  std::map<Key, Seen> seen_;
};

}  // namespace vramscope::classify
