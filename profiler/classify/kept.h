// SPDX-License-Identifier: Apache-2.0
// What a program makes between two steps and keeps: lists of results, copies of its weights.
//
// Why: a batch is made between two steps too. It is gone one step later, and what is kept is not:
//
//   step           2          3          4          5
//   batch          ├──────────┤                              input
//   history              ├──────────────────────────── ...   alive one full step later: kept
//   best weights         ├──────────┤                        a copy of all weights, whatever its life
//
// One step alone proves nothing: the last batch of a loop may wait for a garbage collection. The last step's
// blocks have no step after it. They are taken for what blocks of their size and line were in the steps
// before, if all of those were kept.
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

  // Whether a block that was born between two steps is kept and no batch.
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
  // Steps, of those with a step after them.
  struct Steps {
    uint32_t count = 0;
    uint32_t last = 0;
    void Add(uint32_t step) {
      if (step != last) ++count;
      last = step;
    }
  };
  struct Seen {
    Steps kept;   // after which a block was still there one full step later
    Steps freed;  // after which it was not
  };
  [[nodiscard]] Key KeyOf(const model::Block& block) const;

  const model::Run& run_;
  std::vector<model::BlockId> weight_copies_;  // ascending
  std::map<Key, Seen> seen_;
};

}  // namespace vramscope::classify
