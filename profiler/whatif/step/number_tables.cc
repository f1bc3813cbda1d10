// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/number_tables.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace vramscope::whatif {

namespace {

// Whatever they are given: x.new_zeros(...) asks x for its type alone.
constexpr std::string_view kOfNumbers[] = {"aten::arange",    "aten::full",          "aten::zeros",
                                           "aten::ones",      "aten::scalar_tensor", "aten::new_full",
                                           "aten::new_zeros", "aten::new_ones"};

bool IsInteger(const Operand& operand) {
  constexpr uint8_t kInt32 = 3, kInt64 = 4;  // c10::ScalarType
  return operand.dtype == kInt32 || operand.dtype == kInt64;
}

}  // namespace

void NumberTables::Note(const Op& op, uint32_t block) {
  const std::span<const Operand> inputs = InputsOf(step_, op);
  const bool factory =
      std::find(std::begin(kOfNumbers), std::end(kOfNumbers), step_.NameOf(op)) != std::end(kOfNumbers);
  made_[block] =
      factory || (!inputs.empty() && std::all_of(inputs.begin(), inputs.end(), [&](const Operand& input) {
        // Of the host a number, or a table of them.
        if (input.block == model::kNone) return IsInteger(input) || step_.Rank(input.shape) == 0;
        return Has(input);
      }));
}

bool NumberTables::Has(const Operand& operand) const { return IsInteger(operand) || made_[operand.block]; }

}  // namespace vramscope::whatif
