// SPDX-License-Identifier: Apache-2.0
// Finds the place in the program where a block was allocated, even for blocks of light steps, which are
// recorded without stacks and modules.
//
// Light steps and deep steps usually make the same allocations. So the n-th allocation of a light step gets
// the origin of the n-th allocation of a deep step, if all allocations before it have equal sizes. The same
// is done from the end of the step backward. Other blocks of a light step have no origin.
//
//   deep step 3    512 64 64 4096 ... 64 512        each with module and op
//   light step 9   512 64 64 4096 ... 64 512        the same places, marked "as in step 3"
#pragma once

#include <map>
#include <span>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/timeline/training.h"

namespace vramscope::classify {

struct Origin {
  model::ContextId context = 0;  // 0 = not known
  uint32_t stack = 0;            // 0 = not known
  uint32_t as_in_step = 0;       // the deep step that provides the origin; 0 = recorded for this block
};

class Origins {
 public:
  Origins(const model::Run& run, std::span<const timeline::Training> training)
      : run_(run), training_(training) {}

  // Compares steps on demand and stores the result: not thread-safe.
  [[nodiscard]] Origin Of(model::BlockId block);

 private:
  // The blocks of one process, device and step, in order of allocation.
  using StepBlocks = std::vector<model::BlockId>;
  struct Key {
    model::ProcessIndex process = 0;
    uint16_t device_code = 0;
    uint32_t step = 0;
    auto operator<=>(const Key&) const = default;
  };
  // The most similar deep step, and the number of equal allocations from each end.
  struct Likeness {
    uint32_t deep_step = 0;
    size_t same_from_begin = 0;
    size_t same_from_end = 0;
  };

  const StepBlocks& BlocksOf(const Key& step);
  const Likeness& LikenessOf(const Key& step);

  const model::Run& run_;
  std::span<const timeline::Training> training_;
  std::map<Key, StepBlocks> blocks_;
  std::map<Key, Likeness> likeness_;
};

}  // namespace vramscope::classify
