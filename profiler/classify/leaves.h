// SPDX-License-Identifier: Apache-2.0
// Finds the leaf tensors that are not parameters, although autograd has an AccumulateGrad node for them.
//
// Autograd creates an AccumulateGrad node for every leaf that requires a gradient. Most of these leaves are
// parameters. Some are created during a step, and usually freed before the next step ends:
//
//   - the input of a recomputing checkpoint: a detached copy (torch.utils.checkpoint, use_reentrant);
//   - points between real and generated samples, for a gradient penalty;
//   - inputs that are moved along their gradient, for adversarial training.
//
// In a process whose modules or optimizers name parameters, a leaf without a name that gets gradients in only
// one step is not a parameter, however long it lives. An example is an input whose gradient is differentiated
// again: its graph keeps the input alive.
//
// For other long-lived leaves no gradient is ever accumulated, unlike for parameters. An example is the
// static input of a graphed layer (torch.cuda.make_graphed_callables): torch.autograd.grad returns its
// gradient instead of accumulating it.
//
// A leaf named by a module or an optimizer is a parameter, even if its memory is freed early. So is a
// gathered copy of such a leaf: FSDP gathers the weights into a new block in every forward.
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

  // True if run.labels[index] calls such a leaf a parameter, or calls the leaf's gradient a gradient.
  [[nodiscard]] bool Disprove(uint32_t index) const { return disproved_[index]; }

 private:
  std::vector<bool> disproved_;  // by label
};

}  // namespace vramscope::classify
