// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/asked_types.h"

#include <algorithm>
#include <set>

#include "profiler/whatif/autocast_rules.h"
#include "profiler/whatif/precision.h"
#include "profiler/whatif/precision_moments.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// Of the module's argument whose type `op` asks for; 0 where none was told, or nothing is known of it.
uint8_t TypeOfArgument(const Step& step, const Versions& versions, uint32_t op) {
  const bool told = step.ops[op].asks == Asks::kTensor && step.ops[op].asked != kNone;
  return told ? versions.TypeOf(step.ops[op].asked) : 0;
}

}  // namespace

// softmax(query @ keys, dtype=torch.float32).to(query.dtype): behind the product are numbers and masks. What
// the program itself converted is given back what it was.
uint8_t TypeOfOrigin(const Step& step, const Versions& versions, uint32_t block) {
  const uint32_t widened = versions.WidenedBy(block);
  if (widened != kNone && step.NameOf(step.ops[widened]) == "aten::to") return 0;
  for (uint32_t steps = 0; steps < step.ops.size(); ++steps) {
    uint32_t op = step.blocks[block].op;
    while (op != kNone && step.ops[op].parent != kNone) op = step.ops[op].parent;
    if (op == kNone || step.ops[op].node != kNone) return 0;
    const std::span<const Operand> inputs = InputsOf(step, step.ops[op]);
    const auto first = std::find_if(inputs.begin(), inputs.end(), IsFloat);
    if (first == inputs.end() || first->block == block) return 0;
    const std::string_view name = step.NameOf(step.ops[op]);
    if (AutocastRuleOf(name, step.torch_version) == CastRule::kLow) {
      // alibi.baddbmm(query, keys): what is added comes first.
      const bool adds = name == "aten::baddbmm" || name == "aten::addmm" || name == "aten::addbmm";
      const auto factor = adds ? std::find_if(first + 1, inputs.end(), IsFloat) : first;
      return factor == inputs.end() ? 0 : versions.TypeOf(factor->block);
    }
    block = first->block;
  }
  return 0;
}

// x.to(y.dtype): y is what x is then used with. What is computed from x alone stands for it.
uint8_t TypeMet(const Step& step, const Versions& versions, const std::vector<uint32_t>& calls, uint32_t op) {
  const uint32_t block = InputsOf(step, step.ops[op])[0].block;
  const uint32_t call = calls[op];
  const Position end = call == kNone ? kBefore : step.modules[call].end;
  std::set<uint32_t> same = {block};
  for (uint32_t i = op + 1; i < step.ops.size() && step.ops[i].begin < end; ++i) {
    if (calls[i] != call || step.ops[i].parent != kNone) continue;
    const Operand* other = nullptr;
    bool met = false;
    for (const Operand& operand : InputsOf(step, step.ops[i])) {
      if (!IsFloat(operand)) continue;
      if (same.contains(operand.block))
        met = true;
      else
        other = &operand;
    }
    if (!met) continue;
    if (other != nullptr) return versions.TypeOf(other->block);
    for (const Operand& result : OutputsOf(step, step.ops[i])) same.insert(result.block);
  }
  return 0;
}

bool IsAskedInto(const Step& step, const Versions& versions, uint8_t type, uint32_t op) {
  const Operand& converted = InputsOf(step, step.ops[op])[0];
  return TypeOfArgument(step, versions, op) == type && IsFloat(converted) &&
         versions.TypeOf(converted.block) == kFloatType;
}

uint8_t TypeAskedFor(const Step& step, const Versions& versions, const std::vector<uint32_t>& calls,
                     uint32_t op) {
  const Asks asks = step.ops[op].asks;
  if (const uint8_t argument = TypeOfArgument(step, versions, op); argument != 0) return argument;
  if (asks == Asks::kTensor) return TypeMet(step, versions, calls, op);
  return asks == Asks::kOrigin ? TypeOfOrigin(step, versions, InputsOf(step, step.ops[op])[0].block) : 0;
}

}  // namespace vramscope::whatif
