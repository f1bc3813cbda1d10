// SPDX-License-Identifier: Apache-2.0
// Which tensors that autograd accumulates gradients into are no parameters.
//
// Autograd accumulates into every leaf that requires a gradient. Most are parameters; some are made on the
// way, mostly to be gone before the next step has ended:
//
//   - the input of a checkpoint that computes again: a detached copy (torch.utils.checkpoint, use_reentrant);
//   - points between real and made-up samples, for a gradient penalty;
//   - inputs that are moved along their gradient, for adversarial training.
//
// Where modules or optimizers name parameters, a leaf without a name that gets gradients in a single step is
// none, however long it lives: an input whose gradient is differentiated again is kept by the graph that it
// is in.
//
// Others stay but never get a gradient, though every parameter does: the still input of a graphed layer
// (torch.cuda.make_graphed_callables), whose gradient torch.autograd.grad hands to somebody else.
//
// A leaf that a module or an optimizer has named is a parameter however short its memory lives, and so is a
// gathered copy of one: FSDP puts the gathered weights into a new block in every forward.
#pragma once

#include <span>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/timeline/training.h"

namespace vramscope::classify {

class Leaves {
 public:
  // O(labels log labels).
  Leaves(const model::Run& run, std::span<const timeline::Training> training);

  // True when run.labels[index] calls such a leaf a parameter, or its gradient a gradient.
  [[nodiscard]] bool Disprove(uint32_t index) const { return disproved_[index]; }

 private:
  std::vector<bool> disproved_;  // by label
};

}  // namespace vramscope::classify
