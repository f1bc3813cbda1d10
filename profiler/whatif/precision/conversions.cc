// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/conversions.h"

#include <algorithm>
#include <utility>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/lifetimes/last_uses.h"
#include "profiler/whatif/precision/asked_types.h"
#include "profiler/whatif/precision/autocast_rules.h"
#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/precision/moments.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/step/segments.h"

namespace vramscope::whatif {

using model::kNone;

constexpr Position kBeforeArguments = 1e-7;  // which a call's own variables go before

void FoundConversions::Add(const FoundConversions& more) {
  idle.insert(more.idle.begin(), more.idle.end());
  passing.insert(more.passing.begin(), more.passing.end());
  narrowing.insert(more.narrowing.begin(), more.narrowing.end());
  asking.insert(more.asking.begin(), more.asking.end());
}

Conversions::Conversions(const Step& step, uint8_t low, bool whole, FoundConversions found,
                         Versions& versions)
    : step_(step),
      low_(low),
      whole_(whole),
      found_(std::move(found)),
      versions_(versions),
      views_(step),
      call_(CallsOf(step)),
      weight_(step.ops.size(), kNone),
      to_parameter_(step.blocks.size(), false),
      taken_back_(step.blocks.size(), false) {}

// Products of matrices, convolutions and norms do.
bool Conversions::Refuses(uint32_t op) const {
  const std::string_view name = step_.NameOf(step_.ops[op]);
  return AutocastRuleOf(name, step_.torch_version) == CastRule::kLow || name == "aten::layer_norm";
}

bool Conversions::IsWider(const Operand& operand) const {
  return IsFloat(operand) && versions_.TypeOf(operand.block) == kFloatType &&
         versions_.WidenedBy(operand.block) != kNone;
}

bool Conversions::TakesLow(const Op& op) const {
  const std::span<const Operand> inputs = InputsOf(step_, op);
  return std::any_of(inputs.begin(), inputs.end(), [&](const Operand& operand) {
    return IsFloat(operand) && versions_.TypeOf(operand.block) == low_;
  });
}

uint8_t Conversions::TypeMade(uint32_t op, uint32_t made) const {
  // (labels == classes).to(likely.dtype)
  if (const uint8_t told = TypeOfTold(step_, versions_, op); told != 0) return told;
  const auto widens = [&](uint32_t to) { return IsConversion(to) && !DoesNothing(to); };
  if (MeetsType(step_, versions_, call_, low_, op, made, widens)) return low_;
  if (IsOfCompared(step_, versions_, call_, low_, op)) return low_;
  const bool meets_float = MultipliesFloat(step_, versions_, call_, op, made) ||
                           TakesCopiesOfFloat(step_, versions_, call_, op, made);
  return whole_ && !meets_float ? low_ : kFloatType;
}

void Conversions::Begin(uint32_t op) {
  const Op& begun = step_.ops[op];
  LeaveCalls(begun.begin);
  if (!whole_) ConvertToParameters(op);
  if (AskedAgain(op)) {
    const uint32_t block = InputsOf(step_, begun)[0].block;
    versions_.SetCurrent(block, unnamed_.at(block).low);
  }
  if (step_.NameOf(begun) == "aten::type_as") TakeName(begun);
  if (begun.node == kNone) ShowOthers(op);
  if (!whole_) return;
  if (found_.narrowing.contains(op) || begun.narrows) {
    for (const Operand& operand : InputsOf(step_, begun)) {
      if (IsWider(operand)) versions_.Replace(operand.block, low_, begun.begin - kBeforeNode, operand);
    }
  }
  if (MixesInNorm(begun)) refuses_ = std::min(refuses_, op);
  if (!TakesLow(begun)) return;
  if (!Refuses(op)) return NoteWeightMet(op);
  for (const Operand& operand : InputsOf(step_, begun)) {
    if (!IsFloat(operand) || versions_.TypeOf(operand.block) != kFloatType) continue;
    refuses_ = std::min(refuses_, op);
    if (versions_.Widened(operand.block)) Refute(versions_.WidenedBy(operand.block));
  }
}

// rms_norm() of one type with a weight of another is none of the fused kernel that a step in float32 shows
// (rms_norm_symint in aten/src/ATen/native/layer_norm.cpp).
bool Conversions::MixesInNorm(const Op& op) const {
  const std::span<const Operand> inputs = InputsOf(step_, op);
  return op.node == kNone && inputs.size() > 1 && step_.NameOf(op) == "aten::_fused_rms_norm" &&
         IsFloat(inputs[0]) && IsFloat(inputs[1]) &&
         versions_.TypeOf(inputs[0].block) != versions_.TypeOf(inputs[1].block);
}

void Conversions::End(uint32_t op) {
  const Op& ended = step_.ops[op];
  if (ended.node != kNone) return;
  views_.End(op);
  if (ended.parent != kNone) return HideOthers(op);
  MarkComplex(op);
  if (step_.NameOf(ended) == "aten::to")
    Convert(op);
  else if (step_.NameOf(ended) == "aten::type_as")
    ConvertAs(op);
  else
    NoteUses(ended);
  HideOthers(op);
}

// What was computed in the type that it was made wide in, and then multiplied by a weight in the same module,
// as norms do: there the program asked for the weight's type. Else the call converted nothing.
void Conversions::Refute(uint32_t by) {
  if (asked_.contains(by)) {
    new_.asking.insert(by);
    return;
  }
  if (weight_[by] == kNone) {
    new_.idle.insert(by);
    return;
  }
  new_.passing.insert(by);
  new_.narrowing.insert(weight_[by]);
}

void Conversions::NoteWeightMet(uint32_t op) {
  const Op& meets = step_.ops[op];
  if (meets.parent != kNone) return;
  const std::span<const Operand> inputs = InputsOf(step_, meets);
  const bool weight = std::any_of(inputs.begin(), inputs.end(), [&](const Operand& operand) {
    return operand.block != kNone && step_.blocks[operand.block].category == classify::Category::kParameter;
  });
  for (const Operand& operand : inputs) {
    if (!weight || !IsWider(operand) || versions_.IsCopy(operand.block)) continue;
    const uint32_t by = versions_.WidenedBy(operand.block);
    if (call_[by] == call_[op] && weight_[by] == kNone) weight_[by] = op;
  }
}

void Conversions::MarkWidened(uint32_t op, uint32_t result) {
  const Op& made = step_.ops[op];
  if (made.node != kNone) return;
  const std::span<const Operand> inputs = InputsOf(step_, made);
  // Under autocast only what was low can be made wider.
  const bool wider = whole_ || versions_.FirstOf(inputs, kFloatType) == low_;
  // softmax(x, dtype=...) has another one inside, which is told nothing.
  const bool within = whole_ && made.dtype == 0 && made.parent != kNone;
  const uint32_t told = within ? made.parent : op;
  uint32_t by = step_.ops[told].dtype != 0 && wider ? told : kNone;
  for (const Operand& operand : inputs) {
    if (operand.block == kNone || versions_.WidenedBy(operand.block) == kNone) continue;
    const uint32_t widened = versions_.WidenedBy(operand.block);
    if (by == kNone || !asked_.contains(widened)) by = widened;
  }
  if (by != kNone) versions_.Widen(result, by);
}

bool Conversions::IsConversion(uint32_t op) const {
  const Op& call = step_.ops[op];
  if (step_.NameOf(call) != "aten::to" || call.node != kNone || call.parent != kNone || call.dtype == 0 ||
      call.moves || call.input_count == 0 || call.output_count == 0)
    return false;
  const Operand& from = InputsOf(step_, call)[0];
  return IsFloat(from) && OutputsOf(step_, call)[0].block == from.block;
}

// x.float() of a float tensor allocates nothing, but does when x has become low; and what a program made
// wider it takes back with .to(x.dtype).
void Conversions::Convert(uint32_t op) {
  const Op& call = step_.ops[op];
  if (!IsConversion(op)) return;
  const Operand& from = InputsOf(step_, call)[0];
  const uint32_t block = from.block;
  if (!versions_.Known(block)) return;
  const uint8_t met =
      !whole_ || CameWide(block, op) ? TypeAskedFor(step_, versions_, call_, op, whole_, low_) : 0;
  if (versions_.TypeOf(block) == low_) {
    if (DoesNothing(op) || met == low_) return;
    Remember(block, op);
    const uint32_t low = versions_.Current(block);
    versions_.Cast(block, kFloatType, call.begin + kStride, kNone, from);
    versions_.Widen(block, op);
    OnlyNames(block, op);
    HandOutAgain(block, low);
    made_wide_[block].push_back({op, views_.Of(from), low, versions_.Current(block)});
    unnamed_[block] = {made_wide_[block].back()};
  } else if (call.asks == Asks::kOrigin && met == kFloatType) {
    if (!WidenedBefore(block, op)) versions_.Widen(block, kNone);  // no wider than its origin
    return;
  } else if (call.asks == Asks::kType || IsForLoss(step_, op) || (!whole_ && AsksForParameter(step_, call))) {
    // It returns what it is given, which then has one more name.
  } else if (versions_.Widened(block) && !asked_.contains(versions_.WidenedBy(block))) {
    if (JustWidened(block, op)) return;
    if (IsGiven(block, op) || (call.taken && IsUsedAgain(block, op))) Remember(block, op);
    TakeBack(op, from);
    if (const uint32_t called = CalledWith(op); called != kNone && versions_.IsCopy(block))
      versions_.Used(block, step_.modules[called].HoldsUntil());
  } else if (whole_ || met == low_) {
    Ask(op, from);
  } else if (call.asks == Asks::kTensor && met == 0 && TypeMadeLast(step_, versions_, call_, op) == low_) {
    refuses_ = std::min(refuses_, op);
  }
  if (call.named > kBefore && versions_.IsCopy(block)) versions_.Used(block, call.named);
}

// Of what is low. Whose type is asked for is low too, where it is not named.
bool Conversions::DoesNothing(uint32_t op) const {
  const Asks asks = step_.ops[op].asks;
  if (asks == Asks::kTensor || asks == Asks::kOrigin) return whole_;
  return asks == Asks::kNotTold && found_.idle.contains(op);
}

// x.float() * cos + rotate(x.float()) * sin: a program that asks again has given the first copy no name.
bool Conversions::AskedAgain(uint32_t op) const {
  if (!IsConversion(op) || DoesNothing(op)) return false;
  const Operand& from = InputsOf(step_, step_.ops[op])[0];
  const auto found = unnamed_.find(from.block);
  if (found == unnamed_.end() || versions_.Current(from.block) != found->second.wide) return false;
  // x = x.float(); x[:, 1:].float() is a part of what has one.
  const Unnamed& first = found->second;
  const bool part =
      IsNamedAt(first.op, op) && views_.IsNewer(from, first.op) && views_.IsSeenThrough(from, first.view);
  const bool weight = step_.blocks[from.block].category == classify::Category::kParameter;
  return (first.used || weight) && !part && call_[first.op] == call_[op];
}

// q.float() leaves k and v as they are, which are other parts of the same block. And q = q.float() has it
// where k.float(), which only one operator was given, came behind it.
void Conversions::ShowOthers(uint32_t op) {
  for (const Operand& operand : InputsOf(step_, step_.ops[op])) {
    const auto found = made_wide_.find(operand.block);
    if (found == made_wide_.end()) continue;
    const uint32_t current = versions_.Current(operand.block);
    const MadeWide *shown = nullptr, *own = nullptr;
    for (const MadeWide& made : found->second) {
      if (made.wide == current) shown = &made;
      if (views_.IsSeenThrough(operand, made.view)) own = &made;
    }
    if (shown == nullptr) {
      const bool named = own != nullptr && step_.ops[own->op].again && IsNamedAt(own->op, op);
      if (!named || own->low != current) continue;
    } else if (views_.IsSeenThrough(operand, shown->view) ||
               (own == nullptr && !views_.IsOlder(operand, shown->op))) {
      continue;
    }
    versions_.SetCurrent(operand.block, own != nullptr ? own->wide : shown->low);
    others_.push_back({op, operand.block, versions_.Current(operand.block), current});
  }
}

// What `op` was shown, unless it was converted then.
void Conversions::HideOthers(uint32_t op) {
  for (; !others_.empty() && others_.back().op == op; others_.pop_back())
    if (const Other& other = others_.back(); versions_.Current(other.block) == other.shown)
      versions_.SetCurrent(other.block, other.current);
}

// mask = mask.to(x.dtype), or .to(torch.float32), of a mask that was made in float32.
void Conversions::Ask(uint32_t op, const Operand& from) {
  const Asks asks = step_.ops[op].asks;
  if (asks != Asks::kTensor && asks != Asks::kOrigin && !found_.asking.contains(op)) {
    asked_.insert(op);
    versions_.Widen(from.block, op);
    return;
  }
  Remember(from.block, op);
  TakeBack(op, from);
}

// if x.dtype != weight.dtype: x = x.to(weight.dtype). Under autocast weights stay float32.
void Conversions::ConvertToParameters(uint32_t op) {
  const Position now = step_.ops[op].begin;
  for (; next_branch_ < step_.to_parameter.size() && step_.to_parameter[next_branch_].at < now;
       ++next_branch_) {
    const uint32_t block = step_.to_parameter[next_branch_].block;
    const Position passed = step_.to_parameter[next_branch_].at;
    const uint32_t call = CallAt(step_, passed);
    const auto seen = std::find_if(step_.operands.begin(), step_.operands.end(),
                                   [&](const Operand& operand) { return operand.block == block; });
    if (call == kNone || seen == step_.operands.end() || !versions_.Known(block) ||
        versions_.TypeOf(block) != low_)
      continue;
    versions_.Rename(block, kFloatType, passed, step_.modules[call].end, *seen);
    to_parameter_[block] = true;
  }
}

void Conversions::PassBack(const Operand& gradient, uint32_t node, Position there) {
  const Op& made = step_.ops[step_.nodes[node].op];
  const std::span<const Operand> results = OutputsOf(step_, made);
  const bool converted = std::any_of(results.begin(), results.end(), [&](const Operand& result) {
    return result.block != kNone && to_parameter_[result.block] &&
           step_.blocks[result.block].begin >= made.begin;  // not one that only views what was converted
  });
  if (converted && versions_.TypeOf(gradient.block) == low_)
    versions_.ThereAndBack(gradient.block, kFloatType, there, step_.nodes[node].begin, gradient);
}

bool Conversions::TookBack(uint32_t node) const {
  const uint32_t op = step_.nodes[node].op;
  const auto results = op == kNone ? std::span<const Operand>{} : OutputsOf(step_, step_.ops[op]);
  return std::any_of(results.begin(), results.end(), [&](const Operand& result) {
    return result.block != kNone && taken_back_[result.block] &&
           step_.blocks[result.block].begin >= step_.ops[op].begin;
  });
}

void Conversions::TakeBack(uint32_t op, const Operand& wide) {
  // What a module alone is given leaves the variables of its caller what they were.
  taken_back_[wide.block] = CalledWith(op) == kNone, handed_out_[wide.block] = op;
  const Position at = step_.ops[op].begin + kStride, returned = Returned(wide.block, op);
  if (returned >= kForever && !HoldWide(wide.block, op)) return versions_.Replace(wide.block, low_, at, wide);
  versions_.Cast(wide.block, low_, at, kNone, wide);
  if (returned < kForever) versions_.Return(wide.block, returned);
}

// state = g * state; out[t] = state.to(type); state = g * state: more than the operator that takes the copy.
bool Conversions::IsUsedAgain(uint32_t block, uint32_t op) const {
  const uint32_t taker = TakersOf(step_).Next(block, op);
  return taker != kNone && LastUsesOf(step_).of_block[block] > step_.ops[taker].end;
}

// return weight * x.to(type): x has its name until the function returns.
bool Conversions::HoldWide(uint32_t block, uint32_t op) {
  const uint32_t call = call_[op];
  if (step_.ops[op].again) return IsGiven(block, op);
  if (const Position named = NamedUntil(step_, block); named > step_.ops[op].end) {
    OnlyNames(block, op);
    return versions_.Held(block, named), true;
  }
  if (AreNamesKnown(step_, block)) return false;
  if (call == kNone || versions_.IsCopy(block) || step_.modules[call].end >= kForever) return true;
  if (step_.blocks[block].begin <= step_.modules[call].begin) return true;
  const Position returned = ReturnedBehind(op);
  versions_.Used(block, std::min(returned, step_.modules[call].end - kBeforeArguments));
  return returned >= step_.modules[call].end;
}

// q, k = rotate(q, k), which ends with return q_.to(type), k_.to(type): behind the calls of to() goes, with
// no operator between, what the names of the caller stood for.
Position Conversions::ReturnedBehind(uint32_t op) const {
  constexpr Position kBeforeFree = 0.5;  // what a function's own names hold goes before that
  uint32_t next = op + 1;
  while (next < step_.ops.size() && IsConversion(next)) ++next;
  const Position until = next < step_.ops.size() ? step_.ops[next].begin : kForever;
  Position returned = kForever;
  for (const StepBlock& block : step_.blocks) {
    if (block.begin < step_.ops[op].begin && block.end > step_.ops[next - 1].end && block.end < until)
      returned = std::min(returned, block.end - kBeforeFree);
  }
  return returned;
}

// return q.to(type), k.to(type): these are the last that a module does, or several that follow each other,
// as functions do that are no modules.
Position Conversions::Returned(uint32_t block, uint32_t op) {
  const uint32_t call = call_[op];
  if (call == kNone || versions_.IsCopy(block) || step_.blocks[block].begin < step_.modules[call].begin)
    return kForever;
  const Position end = step_.modules[call].end, behind = end - kBeforeArguments;
  uint32_t last = op, next = op;
  while (++next < step_.ops.size() && step_.ops[next].begin < end) {
    if (step_.ops[next].parent != kNone) continue;
    if (!TakesBack(next, call)) break;
    last = next;
  }
  const bool all = next == step_.ops.size() || step_.ops[next].begin > end;
  if (!all && last == op && last_returned_ != op) return kForever;
  last_returned_ = last;
  const Position named = NamedUntil(step_, block), until = all ? behind : step_.ops[last].end + kStride;
  if (named > step_.ops[op].end) return std::min(named, until);
  return AreNamesKnown(step_, block) ? kForever : until;
}

bool Conversions::TakesBack(uint32_t op, uint32_t call) const {
  const std::string_view name = step_.NameOf(step_.ops[op]);
  const std::span<const Operand> inputs = InputsOf(step_, step_.ops[op]);
  return (name == "aten::to" || name == "aten::type_as") && step_.ops[op].asks != Asks::kType &&
         !inputs.empty() && (IsWider(inputs[0]) || (!whole_ && IsAskedInto(step_, versions_, low_, op))) &&
         step_.blocks[inputs[0].block].begin > step_.modules[call].begin;
}

}  // namespace vramscope::whatif
