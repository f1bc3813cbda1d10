// SPDX-License-Identifier: Apache-2.0
// Finds the leaf tensors that are not parameters, although autograd has an AccumulateGrad node for them.
//
// Every leaf that requires a gradient has an AccumulateGrad node. Some leaves are created during a step, and
// usually freed before the next step ends:
//
//   - the input of a recomputing checkpoint: a detached copy (torch.utils.checkpoint, use_reentrant);
//   - points between real and generated samples, for a gradient penalty;
//   - inputs that are moved along their gradient, for adversarial training.
//
// If modules or optimizers name parameters, a leaf without a name and with gradients in only one step is no
// parameter. A long-lived leaf is no parameter if no gradient is ever accumulated for it. Example: the static
// input of a graphed layer (torch.cuda.make_graphed_callables).
//
// A leaf named by a module or an optimizer is a parameter, even if its memory is freed early. A gathered copy
// of the leaf (FSDP) is a parameter too.
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

  // True if run.labels[index] calls such a leaf a parameter, or its gradient a gradient.
  [[nodiscard]] bool Disprove(uint32_t index) const { return disproved_[index]; }

 private:
  std::vector<bool> disproved_;  // by label
};

}  // namespace vramscope::classify
