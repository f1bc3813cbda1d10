// SPDX-License-Identifier: Apache-2.0
// Finds tensors that autograd accumulates gradients into but that are not parameters.
//
// Autograd accumulates into every leaf that requires a gradient. Most leaves are parameters. Some are created
// on the fly, and most of these are gone before the next step has ended:
//
//   - the input of a recomputing checkpoint: a detached copy (torch.utils.checkpoint, use_reentrant);
//   - points between real and generated samples, for a gradient penalty;
//   - inputs that are moved along their gradient, for adversarial training.
//
// If modules or optimizers name parameters, a leaf without a name that gets gradients in only one step is not
// a parameter, however long it lives. For example, an input whose gradient is differentiated again is kept
// alive by its graph.
//
// Other leaves stay but never get a gradient, although every parameter does. An example is the static input
// of a graphed layer (torch.cuda.make_graphed_callables), whose gradient torch.autograd.grad passes on.
//
// A leaf that a module or an optimizer has named is a parameter, however short its memory lives. So is a
// gathered copy of one: FSDP gathers the weights into a new block in every forward.
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

  // True if run.labels[index] labels such a leaf as a parameter, or its gradient as a gradient.
  [[nodiscard]] bool Disprove(uint32_t index) const { return disproved_[index]; }

 private:
  std::vector<bool> disproved_;  // by label
};

}  // namespace vramscope::classify
