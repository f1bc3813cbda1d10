// SPDX-License-Identifier: Apache-2.0
// Finds the leaf tensors that are not parameters, although autograd has an AccumulateGrad node for them.
//
// Every leaf tensor that requires a gradient has an AccumulateGrad node. Some leaf tensors are not
// parameters. Such leaf tensors are created during a step, and usually freed before the next step ends:
//
//   - the input of a recomputing checkpoint: a detached copy (torch.utils.checkpoint, use_reentrant);
//   - points between real and generated samples, for a gradient penalty;
//   - inputs that are moved along their gradient, for adversarial training.
//
// In some programs, modules or optimizers name the parameters. There, a leaf is not a parameter if it has no
// name and gets gradients in only one step.
//
// A long-lived leaf is not a parameter if no gradient is ever accumulated for it. An example is the static
// input of a graphed layer (torch.cuda.make_graphed_callables).
//
// If a module or an optimizer names a leaf, the leaf is a parameter, even if its memory is freed early. A
// gathered copy of the leaf (FSDP) is a parameter too.
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

  // True if run.labels[index] is wrong because the leaf is not a parameter: a label that names it a
  // parameter, or that names its gradient a gradient.
  [[nodiscard]] bool Disprove(uint32_t index) const { return disproved_[index]; }

 private:
  std::vector<bool> disproved_;  // by index of the label
};

}  // namespace vramscope::classify
