// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/versions.h"

#include <algorithm>

#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/precision/moments.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/step/forward_parts.h"
#include "profiler/whatif/step/segments.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr Position kWithOperator = 0.3;  // before its end: what it converted for itself is gone

}  // namespace

Versions::Versions(const Step& step, uint8_t first)
    : step_(step),
      changed_(step),
      all_low_(first != kFloatType),
      recorded_(step.blocks.size()),
      forward_(ForwardParts(step)) {
  current_.resize(recorded_);
  for (uint32_t i = 0; i < recorded_; ++i) current_[i] = i;
  itself_ = current_;
  types_.resize(recorded_, 0);
  widened_.resize(recorded_, kNone);
  given_.resize(recorded_);
  returned_.resize(recorded_, kNone);
  used_.resize(recorded_, kBefore);
  held_.resize(recorded_, kBefore);
  named_.resize(recorded_, kBefore);
  longest_.resize(recorded_, kForever);
  seen_.resize(recorded_, kForever);
  written_.resize(recorded_, kBefore);
  written_to_.resize(recorded_, kNone);
  cached_.resize(recorded_, kNone);
  copies_.resize(recorded_);
  settled_.resize(recorded_, false);
  unseen_.resize(recorded_, false);
  stale_.resize(recorded_, false);
  for (const Window& part : forward_) left_.push_back(LeftBefore(step, part.end));
  std::vector<bool> floats(recorded_, first == kFloatType), others(recorded_, false);
  for (const Operand& operand : step.operands) {
    if (operand.block != kNone) (IsFloat(operand) ? floats : others)[operand.block] = true;
  }
  for (const uint32_t parameter : step.trained) floats[parameter] = true;
  for (uint32_t i = 0; i < recorded_; ++i) {
    // Also of parameters and buffers that no operator works on: the model is converted with them.
    const StepBlock& block = step.blocks[i];
    const bool own = block.category == Category::kParameter || block.single_buffer;
    if ((own && block.begin == kBefore && !others[i]) || block.category == Category::kOptimizerState)
      floats[i] = true;
  }
  for (uint32_t i = 0; i < recorded_; ++i) {
    // What no operator made: there before the step, or handed over by a library.
    if (step.blocks[i].begin == kBefore || step.blocks[i].op == kNone)
      types_[i] = floats[i] ? first : kFloatType;
  }
}

uint8_t Versions::PromotedOf(std::span<const Operand> operands) const {
  uint8_t scalar = 0, dimensioned = 0;
  for (const Operand& operand : operands) {
    if (!IsFloat(operand) || !Known(operand.block)) continue;
    uint8_t& type = step_.Rank(operand.shape) == 0 ? scalar : dimensioned;
    const uint8_t own = TypeOf(operand.block);
    type = type == 0 || type == own ? own : kFloatType;  // which both of two in 16 bits become
  }
  return dimensioned != 0 ? dimensioned : scalar;
}

uint8_t Versions::TypeAround(const Op& op) const {
  const std::span<const Operand> inputs = InputsOf(step_, op);
  uint8_t type = PromotedOf(inputs);
  if (op.node != kNone || std::none_of(inputs.begin(), inputs.end(), IsFloat)) return type;
  for (uint32_t i = op.parent; type == 0 && i != kNone; i = step_.ops[i].parent)
    type = PromotedOf(InputsOf(step_, step_.ops[i]));
  return type;
}

uint8_t Versions::FirstOf(std::span<const Operand> operands, uint8_t otherwise) const {
  for (const Operand& operand : operands) {
    if (IsFloat(operand) && Known(operand.block)) return TypeOf(operand.block);
  }
  return otherwise;
}

bool Versions::HaveConverted(std::span<const Operand> operands, uint8_t type) const {
  return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
    return operand.block != kNone &&
           std::any_of(copies_[operand.block].begin(), copies_[operand.block].end(), [&](uint32_t copy) {
             const StepBlock& made = changed_.blocks[copy];
             const bool by_program = widened_[copy] != kNone || made.op == kNone;
             return types_[copy] == type && by_program && !InBackward(made.begin);
           });
  });
}

Position Versions::NarrowedAt(uint32_t block) const {
  for (const uint32_t copy : copies_[block]) {
    const StepBlock& made = changed_.blocks[copy];
    if (types_[block] == kFloatType && types_[copy] != kFloatType && made.op == kNone &&
        !InBackward(made.begin))
      return made.begin;
  }
  return kBefore;
}

bool Versions::IsLow(uint32_t block) const {
  return types_[block] == kHalfType || types_[block] == kBfloat16Type;
}

std::vector<bool> Versions::LowBlocks() const {
  std::vector<bool> low(recorded_);
  for (uint32_t i = 0; i < recorded_; ++i) low[i] = IsLow(i);
  return low;
}

bool Versions::IsTrained(uint32_t block) const {
  return std::binary_search(step_.trained.begin(), step_.trained.end(), block);
}

bool Versions::IsWeight(const Operand& operand) const {
  constexpr uint64_t kLeaf = trace::kTensorRequiresGrad | trace::kTensorIsLeaf;
  if ((operand.flags & trace::kTensorIsView) != 0) return false;
  if (IsTrained(operand.block)) return true;
  const bool unused = operand.block != kNone && step_.blocks[operand.block].category == Category::kParameter;
  return (unused || step_.OnlyForward()) && (operand.flags & kLeaf) == kLeaf;
}

bool Versions::InBackward(Position at) const {
  return !forward_.empty() && at >= forward_.front().end && !Within(forward_, at);
}

void Versions::Used(uint32_t block, Position at) {
  const uint32_t version = current_[block];
  used_[version] = std::max(used_[version], at);
  if (!InBackward(at)) UsedInForward(version, at);
}

void Versions::GivenToNode(const Operand& operand, Position used, Position until) {
  if (operand.block == kNone) return;
  See(operand);
  const uint32_t version = current_[operand.block];
  given_[version] = {std::max(used_[version], used), until};
  Used(operand.block, until);
}

void Versions::GivenUp(uint32_t version, Position at) {
  const Given& given = given_[version];
  if (given.used - 2 * kStride <= at && at < given.until && used_[version] == given.until)
    used_[version] = at;
}

void Versions::UsedInForward(uint32_t version, Position at) {
  if (version >= recorded_)
    changed_.blocks[version].last_use = std::max(changed_.blocks[version].last_use, at);
}

uint32_t Versions::Add(uint32_t block, uint8_t type, Position at, uint32_t op, uint64_t bytes) {
  const auto version = static_cast<uint32_t>(changed_.blocks.size());
  StepBlock copy = CopyOf(step_, block);
  copy.requested = bytes;
  copy.begin = at;
  copy.end = kForever;
  copy.op = op;
  copy.category = InBackward(at) ? Category::kTemporaryBackward : Category::kTemporaryForward;
  changed_.blocks.push_back(copy);
  types_.push_back(type);
  widened_.push_back(kNone);
  given_.emplace_back();
  used_.push_back(at);
  held_.push_back(kBefore);
  named_.push_back(kBefore);
  settled_.push_back(false);
  copies_[block].push_back(version);
  current_[block] = version;
  return version;
}

// Of what is expanded all elements are written out (aten/src/ATen/native/TensorConversions.cpp: _to_copy).
uint32_t Versions::Add(uint32_t block, uint8_t type, Position at, uint32_t op, const Operand& operand) {
  const uint32_t from = current_[block];
  const uint32_t version = Add(block, type, at, op, ElementsIn(step_, operand) * BytesOf(type));
  const std::span<const int64_t> strides = StridesOf(step_, operand);
  if (strides.size() > 1 && strides[0] == 0) changed_.blocks[version].expanded = SizesOf(step_, operand)[0];
  // Parts of what was converted as a whole are not told apart.
  if (!InBackward(at) || from != itself_[block]) return version;
  const Part part = PartOf(operand);
  if (part.first > 0 || part.end < step_.blocks[block].requested) parts_.emplace(version, part);
  return version;
}

Versions::Part Versions::PartOf(const Operand& operand) const {
  const uint64_t end = BytesUpTo(step_, operand);
  return end == 0 ? Part{} : Part{operand.offset * BytesOf(operand.dtype), end};
}

bool Versions::Covers(uint32_t version, const Operand& seen) const {
  const auto own = parts_.find(version);
  if (own == parts_.end()) return true;
  const Part part = PartOf(seen);
  return own->second.first <= part.first && part.end <= own->second.end;
}

void Versions::See(const Operand& operand) {
  if (operand.block == kNone || parts_.empty()) return;
  uint32_t& current = current_[operand.block];
  if (Covers(current, operand)) return;
  current = itself_[operand.block];
  for (const uint32_t copy : copies_[operand.block])
    if (parts_.contains(copy) && Covers(copy, operand)) current = copy;
}

bool Versions::IsWritten(uint32_t block, const Operand* seen) const {
  const uint32_t to = written_to_[block];
  return to != kNone && (seen == nullptr || Covers(to, *seen));
}

uint32_t Versions::Standing(uint32_t block, uint8_t type, const Operand* seen) const {
  const bool written = IsWritten(block, seen);
  if (types_[block] == type && !unseen_[block] && !(written && stale_[block])) return itself_[block];
  for (const uint32_t copy : copies_[block]) {
    const Position made = changed_.blocks[copy].begin;
    const bool fresh = !written || made >= written_[block] || copy == written_to_[block];
    const bool has = seen == nullptr || Covers(copy, *seen);
    if (types_[copy] == type && InBackward(made) && fresh && has) return copy;
  }
  return kNone;
}

void Versions::Cast(uint32_t block, uint8_t type, Position at, uint32_t op, const Operand& operand) {
  if (const uint32_t there = InBackward(at) ? Standing(block, type, &operand) : kNone; there != kNone)
    return SetCurrent(block, there);
  const uint32_t from = current_[block];
  Used(block, at);
  const uint32_t copy = Add(block, type, at, op, operand);
  if (type == kFloatType) widened_[copy] = widened_[from];  // else it is wider no more
  if (op == kNone) return;
  used_[copy] = step_.ops[op].end - kWithOperator;
  UsedInForward(copy, used_[copy]);
}

void Versions::CastFrom(uint32_t version, uint32_t block, uint8_t type, Position at, const Operand& operand) {
  current_[block] = version;
  Used(block, at);
  Add(block, type, at, kNone, operand);
}

void Versions::Return(uint32_t block, Position at) {
  const uint32_t version = current_[block];
  returned_[block] = version;
  used_[version] = std::max({used_[version], used_[block], held_[block], named_[block]});
  used_[block] = at;
  held_[block] = named_[block] = kBefore;
}

void Versions::CastSum(const Operand& first, uint8_t type, Position at, uint32_t sum, uint32_t given) {
  const uint32_t from = current_[first.block];
  const uint32_t copy = Add(first.block, type, at, kNone, first);
  changed_.blocks[from].end = at + kHair;
  changed_.blocks[copy].end = at + kStride;
  settled_[from] = settled_[copy] = true;
  if (sum != kNone) changed_.blocks[sum].begin = at + 2 * kHair;
  if (given != kNone) changed_.blocks[given].end = at + 3 * kHair, settled_[given] = true;
}

void Versions::CastByNode(uint32_t block, uint8_t type, Position at, const Operand& operand) {
  Cast(block, type, at, kNone, operand);
  unseen_[block] = true;
}

void Versions::SwapNames(uint32_t a, uint32_t b) {
  std::swap(held_[a], held_[b]);
  std::swap(named_[a], named_[b]);
}

void Versions::Replace(uint32_t block, uint8_t type, Position at, const Operand& operand) {
  const uint32_t from = current_[block];
  Cast(block, type, at, kNone, operand);
  const uint32_t call = CallAt(step_, at);
  // What the call was given its caller's variables hold.
  if (call == kNone || step_.modules[call].begin < changed_.blocks[from].begin)
    SwapNames(from, current_[block]);
  changed_.blocks[block].replaced = at;
  if (block < recorded_) returned_[block] = current_[block];
}

void Versions::Rename(uint32_t block, uint8_t type, Position at, Position until, const Operand& operand) {
  const uint32_t from = current_[block];
  Replace(block, type, at, operand);
  used_[from] = at;
  Used(block, until);
}

void Versions::CastWhole(uint32_t block, uint8_t type, Position at, uint32_t op) {
  CopyInto(step_.blocks[block].requested / BytesOf(kFloatType) * BytesOf(type), block, type, at, op);
}

void Versions::CopyInto(uint64_t bytes, uint32_t block, uint8_t type, Position at, uint32_t op) {
  const uint32_t copy = Add(block, type, at, op, bytes);
  UsedInForward(copy, used_[copy] = step_.ops[op].end - kWithOperator);
}

void Versions::WidenItself(uint32_t block, uint8_t type, Position at) {
  Decide(block, type);
  Used(block, at);
  const uint32_t wide = Add(block, kFloatType, at, kNone, step_.blocks[block].requested);
  returned_[block] = wide;
  used_[wide] = at + kHair;  // it is what the operator returns, also where nothing uses it
  SwapNames(wide, block);    // the operator's own views of it had none
  changed_.blocks[block].replaced = at;
}

void Versions::UseCached(uint32_t block, uint8_t type, Position at, uint32_t op, const Operand& operand) {
  const Window kept = CacheAt(at);
  if (cached_[block] == kNone || changed_.blocks[cached_[block]].begin < kept.begin) {
    cached_[block] = Add(block, type, at, op, operand);
    all_cached_.push_back({cached_[block], kept.end});
  }
  current_[block] = cached_[block];
}

void Versions::CastGradient(uint32_t block, uint8_t type, Position at, const Operand& operand) {
  const uint32_t from = current_[block];
  const uint32_t copy = Add(block, type, at, kNone, operand);
  current_[block] = from;
  StepBlock& handed = changed_.blocks[copy];
  StepBlock& computed = changed_.blocks[from];
  handed.accumulated = at + kHair;
  handed.leaf = step_.blocks[block].leaf;
  handed.category = step_.blocks[block].category;
  handed.end = step_.blocks[block].end;
  computed.accumulated = kForever;
  computed.category = Category::kTemporaryBackward;
  computed.end = at + 2 * kHair;
  settled_[copy] = settled_[from] = true;
}

void Versions::HandOver(uint32_t block) {
  const uint32_t copy = current_[block];
  if (copy == block) return;
  StepBlock& handed = changed_.blocks[copy];
  handed.accumulated = std::max(step_.blocks[block].accumulated, handed.begin);
  handed.leaf = step_.blocks[block].leaf;
  handed.category = step_.blocks[block].category;
  handed.end = step_.blocks[block].end;
  settled_[copy] = true;
  changed_.blocks[block].accumulated = kForever;
  changed_.blocks[block].category = Category::kTemporaryBackward;
}

void Versions::ThereAndBack(uint32_t block, uint8_t type, Position there, Position before,
                            const Operand& operand) {
  const uint8_t own = TypeOf(block);
  const Position back = before - kStride;
  there = std::min(there, back);
  Used(block, there);
  Add(block, type, there, kNone, operand);
  Used(block, back);
  Add(block, own, back, kNone, operand);
}

void Versions::Alias(uint32_t result, uint32_t block) {
  const uint32_t version = current_[block];
  current_[result] = itself_[result] = version;
  types_[result] = types_[version];
  changed_.blocks[version].end = step_.blocks[result].end;
  changed_.blocks[version].accumulated = step_.blocks[result].accumulated;
  changed_.blocks[version].category = step_.blocks[result].category;
  settled_[version] = true;
  if (InBackward(step_.blocks[result].begin)) stands_for_[version] = result;
  LeaveOut(result, block);
}

void Versions::LeaveOut(uint32_t result, uint32_t block) {
  current_[result] = current_[block];
  types_[result] = types_[current_[block]];
  // Who has the result has that: of copies it is told when all are known.
  StepBlock& shown = changed_.blocks[current_[block]];
  if (current_[block] < recorded_) {
    shown.end = std::max(shown.end, step_.blocks[result].end);
    if (step_.blocks[result].category == Category::kActivation) shown.category = Category::kActivation;
  }
  StepBlock& gone = changed_.blocks[result];
  gone.requested = 0;
  gone.accumulated = kForever;
  gone.end = gone.begin + kHair;
  settled_[result] = true;
  if (current_[block] >= recorded_) left_out_.emplace_back(result, current_[block]);
}

}  // namespace vramscope::whatif
