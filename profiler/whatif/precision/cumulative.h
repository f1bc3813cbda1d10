// SPDX-License-Identifier: Apache-2.0
// Cumulative sums and products of 16 bits, of which autocast asks for results in float32.
//
//   forward     result ─ copy of x in float32 ─ kernel       impl_func_cum_ops in
//                                                             aten/src/ATen/native/ReduceOps.cpp
//   backward    copy of the gradient in 16 bits ─ flip ─ cumsum ─ flip      grad.to(self.scalar_type()) in
//                                                             tools/autograd/derivatives.yaml
//
// Why told apart from other sums: those read 16 bits and add up in float32, without a copy, and the engine
// converts what their nodes return.
#pragma once

#include <set>

#include "profiler/whatif/precision/saves.h"
#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class Cumulative {
 public:
  // All must outlive it.
  Cumulative(const Step& step, uint8_t low, Versions& versions, SavedVersions& saves)
      : step_(step), low_(low), versions_(versions), saves_(saves) {}

  // The operand that an operator of forward, which returns float32, copies; nullptr: it copies none.
  const Operand* Begin(uint32_t op);
  // A node has been given the gradient, in the type of what it returned in forward: `op` is its own work.
  void TakeGradient(const Operand& gradient, const Op& op);

 private:
  const Step& step_;
  const uint8_t low_;
  Versions& versions_;
  SavedVersions& saves_;
  std::set<uint32_t> copied_;  // operators that copied their operand
};

}  // namespace vramscope::whatif
