// SPDX-License-Identifier: Apache-2.0
// Finds what keeps a block alive: an object of the program, an autograd graph, or a reference cycle inside
// autograd.
//
//   losses.append(loss)               program    the list holds the tensor, autograd does not
//   losses.append(f(x).sum())         graph      autograd holds the tensors that backward would need
//   backward(create_graph=True)       cycle      x -> x.grad -> graph of x.grad -> AccumulateGrad of x -> x
//
// A cycle is assumed if three conditions hold. A leaf tensor that is not a parameter is alive, its gradient
// is alive, and a backward pass saved tensors for a second backward pass.
#pragma once

#include <cstdint>
#include <set>

#include "profiler/classify/analysis.h"

namespace vramscope::growth {

enum class Keeper : uint8_t;

class Keepers {
 public:
  // Examines the blocks that are alive after event `until`. `analysis` must outlive this object. O(labels +
  // facts).
  Keepers(const classify::Analysis& analysis, model::ProcessIndex process, model::EventIndex until);

  [[nodiscard]] Keeper Of(model::BlockId block) const;

 private:
  [[nodiscard]] bool IsForLife(model::BlockId block) const;
  [[nodiscard]] bool IsInCycle(const model::BlockFacts& facts) const;
  [[nodiscard]] bool MakesGraphsInBackward(model::ProcessIndex process) const;

  const classify::Analysis& analysis_;
  const model::Run& run_;
  model::EventIndex until_;
  std::set<uint64_t> cycles_;
};

}  // namespace vramscope::growth
