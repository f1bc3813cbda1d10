// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/kept_samples.h"

#include <algorithm>

#include "profiler/whatif/sizes/batch_kinds.h"
#include "profiler/whatif/sizes/carried_axis.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

// A step before made it for its own work.
bool IsKept(const Step& step, uint32_t block) {
  if (block == kNone || step.blocks[block].begin != kBefore || step.blocks[block].workspace) return false;
  const Category category = step.blocks[block].category;
  return category == Category::kTemporaryForward || category == Category::kActivation;
}

// The operand is added to something of all samples, or alike, and has elements of its own for each of them.
bool HasSamples(const Step& step, const BatchAxis& axis, const Op& op, const Operand& operand) {
  const Operand& result = OutputsOf(step, op)[0];
  const uint32_t rank = step.Rank(result.shape);
  if (rank < 2 || step.Rank(operand.shape) != rank || !step.shapes[operand.strides].known) return false;
  return step.Dims(operand.shape)[0] == axis.batch && step.Dims(operand.strides)[0] != 0 &&
         result.block != operand.block && ElementsOfSample(step, axis, result, 0) == 1;
}

}  // namespace

std::string WhyKeptForSamples(const Step& step, const BatchAxis& axis) {
  for (const Op& op : step.ops) {
    if (op.node != kNone || op.output_count == 0 || op.input_count < 2) continue;
    const auto kept = [&](const Operand& operand) {
      return IsKept(step, operand.block) && HasSamples(step, axis, op, operand);
    };
    // Few operators are given any: names are compared for those alone.
    if (!std::ranges::any_of(InputsOf(step, op), kept)) continue;
    if (KindNamed(step.NameOf(op)) != Kind::kElementwise || !AreBroadcast(step, op, OutputsOf(step, op)[0]))
      continue;
    return "the program keeps what it made for " + std::to_string(axis.batch) +
           " samples in a step before, as an lru_cache does, and of what the recorded step does not use "
           "neither the samples nor the type is known: record it with that change.";
  }
  return "";
}

}  // namespace vramscope::whatif
