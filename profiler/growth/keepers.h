// SPDX-License-Identifier: Apache-2.0
// What keeps a block that nobody let go of: an object of the program, autograd's graph, or a cycle inside
// autograd.
//
//   losses.append(loss)               program    the block is nothing but the tensor
//   losses.append(f(x).sum())         graph      autograd holds what backward would need
//   backward(create_graph=True)       cycle      x -> x.grad -> its graph -> AccumulateGrad of x -> x: no
//                                                object of the program holds any of them
//
// A cycle is told by three facts: a tensor that is no parameter, its gradient, both still there, and a
// backward pass that kept tensors for another one.
#pragma once

#include <cstdint>
#include <set>

#include "profiler/classify/analysis.h"

namespace vramscope::growth {

enum class Keeper : uint8_t;

class Keepers {
 public:
  // Of blocks that are alive after event `until`. `analysis` must outlive this. O(labels + facts).
  Keepers(const classify::Analysis& analysis, model::ProcessIndex process, model::EventIndex until);

  [[nodiscard]] Keeper Of(model::BlockId block) const;

 private:
  [[nodiscard]] bool IsForLife(model::BlockId block) const;
  [[nodiscard]] bool IsInCycle(const model::BlockFacts& facts) const;
  [[nodiscard]] bool MakesGraphsInBackward(model::ProcessIndex process) const;

  const classify::Analysis& analysis_;
  const model::Run& run_;
  model::EventIndex until_;
  std::set<uint64_t> cycles_;  // tensors that are no parameters, alive with their gradients
};

}  // namespace vramscope::growth
