// SPDX-License-Identifier: Apache-2.0
// Who uses a block next, until when forward needs it, and a node of autograd what it keeps: where memory can
// go at the earliest that something else than the program decides about (checkpoints, a copy on the host).
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Whatever is changed.
struct LastUses {
  // By block: the end of the last operator of forward that had it as operand or result, or until when
  // variables hold it (holders.h).
  std::vector<Position> held;
  // By saved tensor: its node has done its work with it, before the engine checks and adds up what came out
  // of it, and lets it go. What a node unpacks are variables of its function: C++ lets go of the last one
  // first.
  std::vector<Position> unpacked_until;
  std::vector<Position> works_from;  // by node: before it unpacks what it keeps
  // `saved`: one of the step's.
  [[nodiscard]] Position UnpackedUntil(const Step& step, const Saved& saved) const {
    return unpacked_until[static_cast<size_t>(&saved - step.saved.data())];
  }
};

// Until when a variable of the operator around this one holds what the operand is of; kBefore: none does.
// Attention that is products of matrices has scaled queries in one, and the weights that softmax makes;
// scaled keys are given to a product at once
// (_scaled_dot_product_attention_math in aten/src/ATen/native/transformers/attention.cpp).
[[nodiscard]] Position OwnVariableUntil(const Step& step, const Operand& operand);

// O(operands) the first time; the answer is part of the step.
[[nodiscard]] const LastUses& LastUsesOf(const Step& step);

// Which operators are given a block, but for those inside others.
class Takers {
 public:
  explicit Takers(const Step& step);
  // The first one behind that operator; kNone where there is none. O(log operands).
  [[nodiscard]] uint32_t Next(uint32_t block, uint32_t op) const;

 private:
  std::vector<std::pair<uint32_t, uint32_t>> all_;  // block, operator: in order
};

// O(operands log operands) the first time; the answer is part of the step.
[[nodiscard]] const Takers& TakersOf(const Step& step);

}  // namespace vramscope::whatif
