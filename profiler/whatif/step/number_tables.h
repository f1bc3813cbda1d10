// SPDX-License-Identifier: Apache-2.0
// Tables that a step makes from nothing but numbers: of positions, distances and masks, as long as the
// longest sequence that the model takes, of which the first tokens are cut out.
//
//   arange(512) ─┬─ sub ─ ge ─ where(-inf, 0) [512, 512] ─ slice [96, 96]
//   arange(512) ─┘
//
// Why: of what is computed from weights or inputs, a part of 96 may be anything, as a head of so many
// features.
#pragma once

#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class NumberTables {
 public:
  explicit NumberTables(const Step& step) : step_(step), made_(step.blocks.size(), false) {}

  // Behind each operator of forward that hands out the block, in their order, also those that change it.
  void Note(const Op& op, uint32_t block);
  // Integers are, wherever they are from.
  [[nodiscard]] bool Has(const Operand& operand) const;

 private:
  const Step& step_;
  std::vector<bool> made_;  // by block
};

}  // namespace vramscope::whatif
