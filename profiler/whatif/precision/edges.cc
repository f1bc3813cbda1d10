// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/edges.h"

#include <algorithm>

#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/precision/precision.h"

namespace vramscope::whatif {

using model::kNone;

AdditionEdges::AdditionEdges(const Step& step, const Consumers& consumers, const CopiesGradients& copies,
                             Versions& versions)
    : step_(step), consumers_(consumers), copies_(copies), versions_(versions) {}

void AdditionEdges::NoteGiven(uint32_t op) {
  const Op& done = step_.ops[op];
  if (done.parent != kNone || done.name != step_.nodes[done.node].name) return;
  for (const Operand& operand : InputsOf(step_, done))
    if (operand.block != kNone) given_[{op, operand.block}] = versions_.Current(operand.block);
}

uint32_t AdditionEdges::EdgeTo(uint32_t node, uint32_t block) const {
  return consumers_.HandedOnTo(node, block, step_.nodes[node].begin);
}

bool AdditionEdges::Convert(const Operand& gradient, uint32_t node, uint8_t wanted) {
  const uint32_t edge = EdgeTo(node, gradient.block);
  const auto given = given_.find({edge, gradient.block});
  const auto current = edge_of_.find(versions_.Current(gradient.block));
  if (given == given_.end() || current == edge_of_.end() || current->second == edge ||
      versions_.TypeOfVersion(given->second) == wanted)
    return false;
  const Position at = std::min(step_.ops[edge].end + kStride, step_.nodes[node].begin - kBeforeNode);
  versions_.CastFrom(given->second, gradient.block, wanted, at, gradient);
  edge_of_[versions_.Current(gradient.block)] = edge;
  return true;
}

bool AdditionEdges::ThereAndBack(const Operand& gradient, uint32_t node, uint8_t low, uint8_t wanted) {
  const uint32_t edge = EdgeTo(node, gradient.block);
  const auto given = given_.find({edge, gradient.block});
  if (given == given_.end() || versions_.TypeOfVersion(given->second) != wanted) return false;
  const Position before = step_.nodes[node].begin;
  versions_.SetCurrent(gradient.block, given->second);
  versions_.ThereAndBack(gradient.block, low, std::min(step_.ops[edge].end + kStride, before - kBeforeNode),
                         before, gradient);
  return true;
}

void AdditionEdges::ConvertWide(const Op& add, uint32_t node, uint8_t low) {
  if (add.input_count == 0 || !IsFloat(InputsOf(step_, add)[0])) return;
  const Operand& gradient = InputsOf(step_, add)[0];
  const uint32_t edge = EdgeTo(node, gradient.block);
  const auto given = given_.find({edge, gradient.block});
  if (given == given_.end() || versions_.TypeOfVersion(given->second) != kFloatType) return;
  const Position made = copies_.WidenedFor(node, step_.ops[edge].node);
  if (made == kBefore || !wide_.insert(node).second) return;
  const Position at = copies_.BeforeOlder(made, step_.ops[edge].end, add.begin - kBeforeNode);
  versions_.CastFrom(given->second, gradient.block, low, at, gradient);
  versions_.Written(gradient.block, at);
}

void AdditionEdges::MadeFor(uint32_t block, uint32_t node) {
  const uint32_t edge = EdgeTo(node, block);
  if (edge != kNone) edge_of_[versions_.Current(block)] = edge;
}

}  // namespace vramscope::whatif
