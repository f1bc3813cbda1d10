// SPDX-License-Identifier: Apache-2.0
// Gradients of parameters, in the type that parameters have: taken over, copied, added to what is there, or
// converted before that.
#pragma once

#include <unordered_map>

#include "profiler/whatif/precision/copies.h"
#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class LeafGradients {
 public:
  // `leaf`: the type of parameters. All must outlive it.
  LeafGradients(const Step& step, uint8_t low, uint8_t leaf, const GradientMoments& moments,
                const CopiesGradients& copies, Versions& versions);

  // `op`: the one that accumulates the gradient.
  void Take(const Operand& gradient, const Op& op);
  // The engine adds two gradients for `node`. Of a parameter that is used several times autocast keeps one
  // copy, so that one node converts its gradient: what comes from each use is added up before. Whether it is
  // that.
  [[nodiscard]] bool AddsBeforeCast(const Op& add, uint32_t node);

 private:
  // When the gradient of a weight is converted whose copy autocast keeps from a call that was not
  // differentiated; kBefore where it is not.
  [[nodiscard]] Position CastAside(const Operand& gradient) const;

  const Step& step_;
  const uint8_t low_, leaf_;
  const GradientMoments& moments_;
  const CopiesGradients& copies_;
  Versions& versions_;
  std::unordered_map<uint32_t, Operand> last_added_;  // by sum of gradients in the low type: what came last
};

}  // namespace vramscope::whatif
