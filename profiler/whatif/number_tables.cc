// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/number_tables.h"

#include <algorithm>

namespace vramscope::whatif {

void NumberTables::Note(const Op& op, uint32_t block) {
  const std::span<const Operand> inputs = InputsOf(step_, op);
  made_[block] = op.node == model::kNone &&
                 std::all_of(inputs.begin(), inputs.end(),
                             [&](const Operand& input) { return input.block == model::kNone || Has(input); });
}

bool NumberTables::Has(const Operand& operand) const {
  constexpr uint8_t kInt32 = 3, kInt64 = 4;  // c10::ScalarType
  return operand.dtype == kInt32 || operand.dtype == kInt64 || made_[operand.block];
}

}  // namespace vramscope::whatif
