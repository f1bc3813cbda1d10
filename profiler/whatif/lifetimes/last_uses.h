// SPDX-License-Identifier: Apache-2.0
// Last-use times: the earliest time at which forward, and each autograd node, no longer needs a block. If a
// change (checkpointing, offload to the host) replaces a saved tensor, its block can be freed at this time.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// The same times are used for all changes.
struct LastUses {
  // For each block: the end of the last forward operator that uses the block, or the time until which
  // variables hold the block, if that is later (holders.h).
  std::vector<Position> held;
  // For each saved tensor: when its node has finished its work with the tensor, before the engine accumulates
  // the node's results. A node unpacks its saved tensors into local variables; C++ destroys the last variable
  // first.
  std::vector<Position> unpacked_until;
  std::vector<Position> works_from;  // for each node: just before the node unpacks its saved tensors
  // `saved`: an element of step.saved.
  [[nodiscard]] Position UnpackedUntil(const Step& step, const Saved& saved) const {
    return unpacked_until[static_cast<size_t>(&saved - step.saved.data())];
  }
};

// Returns until when a local variable of the enclosing operator holds the operand; kBefore if no variable
// holds it. The only such operator is _scaled_dot_product_attention_math: it holds the scaled queries and the
// attention weights, but not the scaled keys. Source: aten/src/ATen/native/transformers/attention.cpp.
[[nodiscard]] Position OwnVariableUntil(const Step& step, const Operand& operand);

// Returns the last-use times of the step. The first call takes O(operands) and stores the result in the step.
[[nodiscard]] const LastUses& LastUsesOf(const Step& step);

// For each block: the operators that have the block as input. Operators inside other operators are left out.
class Takers {
 public:
  explicit Takers(const Step& step);
  // Returns the first operator after `op` that has the block as input; kNone if there is none. O(log
  // operands).
  [[nodiscard]] OpIndex Next(BlockIndex block, OpIndex op) const;

 private:
  std::vector<std::pair<BlockIndex, OpIndex>> all_;  // sorted
};

// Returns the Takers of the step. The first call takes O(operands log operands) and stores the result in the
// step.
[[nodiscard]] const Takers& TakersOf(const Step& step);

}  // namespace vramscope::whatif
