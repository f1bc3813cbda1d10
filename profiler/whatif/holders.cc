// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/holders.h"

#include <algorithm>
#include <iterator>

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr std::string_view kProducts[] = {"aten::matmul", "aten::bmm", "aten::baddbmm",
                                          "aten::scaled_dot_product_attention"};

}  // namespace

std::vector<uint32_t> CallsOf(const Step& step) {
  std::vector<uint32_t> calls(step.ops.size(), kNone);
  // Calls and operators are both in the order of their begin.
  uint32_t next = 0, call = kNone;
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    const Position at = step.ops[i].begin;
    for (; next < step.modules.size() && step.modules[next].begin <= at; ++next) call = next;
    while (call != kNone && step.modules[call].end <= at) call = step.modules[call].parent;
    calls[i] = call;
  }
  return calls;
}

Holders::Holders(const Step& step) : step_(step), call_(CallsOf(step)) {}

bool Holders::MeetsAnother(const Op& op) const {
  if (std::find(std::begin(kProducts), std::end(kProducts), step_.NameOf(op)) == std::end(kProducts))
    return false;
  uint32_t made = 0;  // in this step; they may be parts of one block
  for (uint32_t i = 0; i < op.input_count; ++i) {
    const uint32_t block = step_.operands[op.first_input + i].block;
    if (block != kNone && step_.blocks[block].begin > kBefore) ++made;
  }
  return made > 1;
}

uint32_t Holders::MakerOf(const Operand& operand) const {
  uint32_t maker = operand.block == kNone ? kNone : step_.blocks[operand.block].op;
  while (maker != kNone && step_.ops[maker].parent != kNone) maker = step_.ops[maker].parent;
  return maker;
}

Position Holders::NamedAnew(const Operand& operand) const {
  const uint32_t maker = MakerOf(operand), call = call_[operand.op];
  if (maker == kNone || call_[maker] != call) return kForever;
  const Op& product = step_.ops[operand.op];
  for (uint32_t i = operand.op + 1; i < step_.ops.size() && step_.ops[i].begin < step_.modules[call].end;
       ++i) {
    const Op& next = step_.ops[i];
    if (call_[i] != call || next.parent != kNone || next.name != product.name) continue;
    for (const Operand& other : InputsOf(step_, next)) {
      const uint32_t again = other.argument == operand.argument ? MakerOf(other) : kNone;
      if (again != kNone && call_[again] == call && step_.ops[again].name == step_.ops[maker].name &&
          step_.ops[again].begin > product.end)
        return step_.ops[again].end;
    }
  }
  return kForever;
}

Position Holders::Until(const Operand& operand) const {
  const Op& op = step_.ops[operand.op];
  const Position made = step_.blocks[operand.block].begin;
  if (op.node != kNone || made == kBefore) return kBefore;
  Position until = kBefore;
  uint32_t call = call_[operand.op];
  // Of the calls around the operator those that were given the block, and the one that they were called in.
  for (; call != kNone && step_.modules[call].begin > made; call = step_.modules[call].parent)
    until = step_.modules[call].end;
  if (until == kBefore && call != kNone && op.parent == kNone && MeetsAnother(op))
    until = std::min(step_.modules[call].end, NamedAnew(operand));
  return until >= kForever ? kBefore : until;
}

}  // namespace vramscope::whatif
