// SPDX-License-Identifier: Apache-2.0
// Last-use times: when forward and each autograd node no longer need a block. Checkpoints, or a copy on the
// host, could free it from then on.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Last-use times do not depend on the change.
struct LastUses {
  // By block: the end of the last forward operator that used it. Later if variables hold it (holders.h).
  std::vector<Position> held;
  // By saved tensor: when its node has done its work with it, before the engine accumulates the node's
  // results. A node unpacks its saved tensors into local variables; C++ destroys the last one first.
  std::vector<Position> unpacked_until;
  std::vector<Position> works_from;  // by node: before it unpacks its saved tensors
  // `saved`: an element of step.saved.
  [[nodiscard]] Position UnpackedUntil(const Step& step, const Saved& saved) const {
    return unpacked_until[static_cast<size_t>(&saved - step.saved.data())];
  }
};

// Until when a local variable of the enclosing operator holds the operand; kBefore if none does. Attention as
// matrix products holds the scaled queries and the weights from softmax, but not the scaled keys. Source:
// _scaled_dot_product_attention_math in aten/src/ATen/native/transformers/attention.cpp.
[[nodiscard]] Position OwnVariableUntil(const Step& step, const Operand& operand);

// O(operands) on first use. Stored in the step.
[[nodiscard]] const LastUses& LastUsesOf(const Step& step);

// By block: the operators that receive it, without operators inside others.
class Takers {
 public:
  explicit Takers(const Step& step);
  // The first of them after operator `op`; kNone if none. O(log operands).
  [[nodiscard]] OpIndex Next(BlockIndex block, OpIndex op) const;

 private:
  std::vector<std::pair<BlockIndex, OpIndex>> all_;  // sorted
};

// O(operands log operands) on first use. Stored in the step.
[[nodiscard]] const Takers& TakersOf(const Step& step);

}  // namespace vramscope::whatif
