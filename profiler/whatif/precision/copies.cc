// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/copies.h"

#include <algorithm>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/precision/moments.h"
#include "profiler/whatif/precision/precision.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr Position kGone = 1.5;  // behind an operator: what it was given is freed

uint32_t Outermost(const Step& step, uint32_t op) {
  while (step.ops[op].parent != kNone) op = step.ops[op].parent;
  return op;
}

}  // namespace

CopiesGradients::CopiesGradients(const Step& step, uint8_t low, const std::vector<uint8_t>& wanted,
                                 Versions& versions)
    : step_(step), low_(low), wanted_(wanted), versions_(versions), read_(step.nodes.size()) {}

void CopiesGradients::NoteRead(uint32_t node) {
  for (const Operand& operand : InputsOf(step_, step_.ops[step_.nodes[node].op])) {
    if (IsFloat(operand) && versions_.Known(operand.block))
      read_[node].push_back(
          {operand.block, versions_.Current(operand.block), versions_.TypeOf(operand.block)});
  }
}

bool CopiesGradients::IsOfCopy(uint32_t gradient, uint32_t node) const {
  const uint8_t type = versions_.TypeOf(gradient);
  const std::span<const Operand> results = OutputsOf(step_, step_.ops[step_.nodes[node].op]);
  if (type == wanted_[node] || !versions_.HaveConverted(results, type)) return false;
  if (sums_.contains({gradient, node})) return true;
  const uint32_t op = step_.blocks[gradient].op;
  const uint32_t maker = op == kNone ? kNone : step_.ops[op].node;
  if (maker == kNone) return true;
  const Read* read = ReadBy(maker, results);
  return read == nullptr || read->type == type;
}

void CopiesGradients::NoteBack(uint32_t op, uint32_t block) {
  if (versions_.IsLow(block) && versions_.IsCopy(block) && versions_.Widened(block))
    back_.emplace(std::pair(op, block), versions_.MadeAt(versions_.Current(block)));
}

CopiesGradients::Return CopiesGradients::ComesBack(uint32_t gradient, uint32_t node) const {
  const uint8_t type = versions_.TypeOf(gradient);
  const uint32_t maker = OutermostMaker(step_, gradient);
  if (type != wanted_[node] || step_.nodes[node].op == kNone || sums_.contains({gradient, node}) ||
      versions_.IsCopy(gradient) ||  // it came back already
      maker == kNone || step_.ops[maker].node == kNone || step_.nodes[step_.ops[maker].node].op == kNone)
    return {};
  const Position latest = step_.nodes[node].begin - kBeforeNode;
  if (type == low_) {
    const Position made = WidenedBeside(maker, node);
    if (made == kBefore) return {};
    return {BeforeOlder(made, step_.ops[maker].end, latest), kFloatType};
  }
  if (IsOfWiderCopy(gradient, node)) {
    const Position made = versions_.MadeAt(VersionOf(gradient, node));
    const Position there = BeforeOlder(made, step_.ops[maker].end, latest - kStride);
    return {std::max(ConvertsBack(node, there, latest), there + 2 * kStride), low_, there};
  }
  const std::vector<Read>& all = read_[step_.ops[maker].node];
  const bool promotes =
      std::any_of(all.begin(), all.end(), [](const Read& one) { return one.type == kFloatType; });
  const Read* const read = ReadBy(step_.ops[maker].node, OutputsOf(step_, step_.ops[step_.nodes[node].op]));
  if (!promotes || read == nullptr || read->type != low_) return {};
  return {BeforeOlder(versions_.MadeAt(read->version), step_.ops[maker].end, latest), low_};
}

// When the wider copy was made of what the operator of `node` returned; kBefore: none was.
Position CopiesGradients::WidenedBeside(uint32_t maker, uint32_t node) const {
  const uint32_t read_by = Outermost(step_, step_.nodes[step_.ops[maker].node].op);
  if (read_by == Outermost(step_, step_.nodes[node].op)) return kBefore;
  for (const Operand& result : OutputsOf(step_, step_.ops[step_.nodes[node].op])) {
    const auto found = back_.find({read_by, result.block});
    if (found != back_.end()) return found->second;
  }
  return kBefore;
}

const CopiesGradients::Read* CopiesGradients::ReadBy(uint32_t maker, std::span<const Operand> results) const {
  for (const Read& read : read_[maker]) {
    if (std::any_of(results.begin(), results.end(),
                    [&](const Operand& result) { return result.block == read.block; }))
      return &read;
  }
  return nullptr;
}

Position CopiesGradients::WidenedFor(uint32_t node, uint32_t reader) const {
  const Read* const read = ReadBy(reader, OutputsOf(step_, step_.ops[step_.nodes[node].op]));
  const bool wide = read != nullptr && read->type == kFloatType && versions_.IsByProgram(read->version);
  return wide && wanted_[node] == low_ ? versions_.MadeAt(read->version) : kBefore;
}

uint32_t CopiesGradients::VersionOf(uint32_t gradient, uint32_t node) const {
  const auto sum = sums_.find({gradient, node});
  if (sum != sums_.end()) return sum->second.version;
  const uint32_t op = step_.blocks[gradient].op;
  const uint32_t maker = op == kNone ? kNone : step_.ops[op].node;
  if (maker == kNone || step_.nodes[node].op == kNone) return kNone;
  const Read* read = ReadBy(maker, OutputsOf(step_, step_.ops[step_.nodes[node].op]));
  return read == nullptr ? kNone : read->version;
}

Position CopiesGradients::Complete(uint32_t gradient, uint32_t node) const {
  if (VersionOf(gradient, node) == kNone || !IsOfCopy(gradient, node)) return kBefore;
  const auto sum = sums_.find({gradient, node});
  const Position written = versions_.WrittenAt(gradient);
  if (sum != sums_.end()) return std::max(sum->second.at, written) + kGone;
  uint32_t op = step_.blocks[gradient].op;
  while (step_.ops[op].parent != kNone) op = step_.ops[op].parent;
  return std::max(step_.ops[op].end, written) + kGone;
}

Position CopiesGradients::Converts(uint32_t gradient, uint32_t node, Position latest) const {
  const Position complete = Complete(gradient, node);
  if (complete == kBefore) return latest;
  return BeforeOlder(versions_.MadeAt(VersionOf(gradient, node)), complete, latest);
}

Position CopiesGradients::ConvertsBack(uint32_t node, Position behind, Position latest) const {
  Position made = kBefore, at = behind;
  for (const Operand& result : OutputsOf(step_, step_.ops[step_.nodes[node].op]))
    if (result.block != kNone) made = std::max(made, versions_.NarrowedAt(result.block));
  if (made == kBefore) return behind;
  const Position older = BeforeOlder(made, behind, latest);
  for (const Node& other : step_.nodes)
    if (other.begin > behind && other.begin < older) at = std::max(at, std::min(other.end + kStride, older));
  return at;
}

Position CopiesGradients::BeforeOlder(Position made, Position behind, Position latest) const {
  Position next = latest + kBeforeNode;
  for (const Node& other : step_.nodes) {
    if (other.op != kNone && other.made < made && other.begin > behind) next = std::min(next, other.begin);
  }
  // Of several copies that of the last one comes first.
  return next - kBeforeNode * made / next;
}

std::pair<uint8_t, uint8_t> CopiesGradients::TypesOf(std::span<const Operand> added) const {
  if (added.size() < 2 || !IsFloat(added[0]) || !IsFloat(added[1])) return {};
  return {versions_.TypeOf(added[0].block), versions_.TypeOf(added[1].block)};
}

bool CopiesGradients::AddsUp(const Op& add, uint32_t node) {
  const std::span<const Operand> added = InputsOf(step_, add);
  const auto [first, second] = TypesOf(added);
  if (step_.nodes[node].op == kNone || first == 0 || first != second || first == wanted_[node] ||
      !IsOfCopy(added[0].block, node) || !IsOfCopy(added[1].block, node))
    return false;
  // x.float() * cos + rotate(x.float()) * sin: a node for each copy.
  const uint32_t one = VersionOf(added[0].block, node), other = VersionOf(added[1].block, node);
  if (one != kNone && other != kNone && one != other) return false;
  sums_[{OutputsOf(step_, add)[0].block, node}] = {one == kNone ? other : one, add.end};
  return true;
}

bool CopiesGradients::IsOfWiderCopy(uint32_t gradient, uint32_t node) const {
  const uint32_t version = VersionOf(gradient, node);
  if (version == kNone || versions_.TypeOfVersion(version) != kFloatType) return false;
  // A view of the copy itself is no way back to x.
  if (std::ranges::any_of(read_[node], [&](const Read& read) { return read.version == version; }))
    return false;
  return std::ranges::all_of(OutputsOf(step_, step_.ops[step_.nodes[node].op]), [&](const Operand& result) {
    return result.block != version && IsFloat(result) &&
           versions_.TypeOfVersion(result.block) == kFloatType &&
           versions_.NarrowedAt(result.block) != kBefore;
  });
}

bool CopiesGradients::AddsUpInLow(const Op& add, uint32_t node) {
  const std::span<const Operand> added = InputsOf(step_, add);
  const auto [first, second] = TypesOf(added);
  if (first == 0 || (first == low_ && second == low_) || step_.nodes[node].op == kNone ||
      wanted_[node] != kFloatType)
    return false;
  const uint32_t one = VersionOf(added[0].block, node), other = VersionOf(added[1].block, node);
  if (one == kNone || one != other || versions_.TypeOfVersion(one) != low_ ||
      !versions_.HaveConverted(OutputsOf(step_, step_.ops[step_.nodes[node].op]), low_))
    return false;
  sums_[{OutputsOf(step_, add)[0].block, node}] = {one, add.end};
  return true;
}

bool CopiesGradients::Waits(const Op& add, uint32_t node) {
  const std::span<const Operand> added = InputsOf(step_, add);
  const auto [first, second] = TypesOf(added);
  if (AddsLate(add, node)) return true;
  if (step_.nodes[node].op == kNone || first == 0 || second != kFloatType) return false;
  const bool twice = wanted_[node] == kFloatType;
  if (twice ? !IsOfWiderCopy(added[1].block, node) : wanted_[node] != low_ || !IsOfCopy(added[1].block, node))
    return false;
  const uint8_t own = twice ? kFloatType : low_;
  // That another node was given a wider copy of the first one since is all the same.
  const uint32_t there =
      first == own ? versions_.Current(added[0].block) : versions_.Standing(added[0].block, own);
  if (there == kNone) return false;
  versions_.SetCurrent(added[0].block, there);
  Waiting& waiting =
      waiting_.try_emplace(node, Waiting{added[1], add.end, kNone, added[0].block, twice, kNone})
          .first->second;
  waiting.since = add.end;
  const uint32_t result = OutputsOf(step_, add)[0].block;
  if (result == added[0].block) return true;
  waiting.sum = result, versions_.Decide(result, own);
  if (step_.blocks[added[0].block].end < add.end + 2 * kGone) waiting.given = there;
  return true;
}

bool CopiesGradients::AddsLate(const Op& add, uint32_t node) {
  const std::span<const Operand> added = InputsOf(step_, add);
  const auto [first, second] = TypesOf(added);
  if (step_.nodes[node].op == kNone || wanted_[node] != kFloatType || first != kFloatType || second != low_ ||
      !IsOfCopy(added[1].block, node) || step_.blocks[added[1].block].end > add.end + 2 * kGone)
    return false;
  const Position latest = step_.nodes[node].begin - kBeforeNode;
  const Position at = Converts(added[1].block, node, latest);
  if (at <= add.end) return false;
  const uint32_t result = OutputsOf(step_, add)[0].block;
  const bool in_place = result == added[0].block;
  versions_.CastSum(added[1], kFloatType, at, in_place ? kNone : result);
  if (in_place)
    versions_.Written(result, add.end);
  else
    versions_.Decide(result, kFloatType);
  return true;
}

Position CopiesGradients::ConvertsLeaf(uint32_t gradient) const {
  const uint32_t maker = OutermostMaker(step_, gradient);
  if (maker == kNone || step_.ops[maker].node == kNone) return kBefore;
  for (const Read& read : read_[step_.ops[maker].node]) {
    if (read.type != kFloatType || !versions_.IsTrained(read.block) ||
        step_.blocks[read.block].name != step_.blocks[gradient].name)
      continue;
    const auto pass = std::ranges::find_if(
        step_.backward, [&](const Window& one) { return step_.ops[maker].begin < one.end; });
    const Position last = pass == step_.backward.end() ? step_.ops[maker].end : pass->end;
    return BeforeOlder(versions_.MadeAt(read.version), step_.ops[maker].end, last);
  }
  return kBefore;
}

void CopiesGradients::Join(uint32_t node) {
  const auto found = waiting_.find(node);
  if (found == waiting_.end()) return;
  const Waiting& waiting = found->second;
  const Position at = std::min(waiting.since + kGone, step_.nodes[node].begin - kBeforeNode);
  if (waiting.twice) {
    versions_.CastSum(waiting.first, low_, at, kNone);
    versions_.CastSum(waiting.first, kFloatType, at + kStride, waiting.sum);
    if (waiting.sum == kNone) versions_.Written(waiting.own, at);
    waiting_.erase(found);
    return;
  }
  versions_.CastSum(waiting.first, low_, at, waiting.sum, waiting.given);
  if (const uint32_t low = versions_.Standing(waiting.own, low_); waiting.sum == kNone && low != kNone) {
    versions_.SetCurrent(waiting.own, low);
    versions_.Written(waiting.own, at);
  }
  waiting_.erase(found);
}

}  // namespace vramscope::whatif
