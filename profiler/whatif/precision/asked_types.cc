// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/asked_types.h"

#include <algorithm>
#include <set>

#include "profiler/whatif/lifetimes/caches.h"
#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/lifetimes/last_uses.h"
#include "profiler/whatif/precision/autocast_rules.h"
#include "profiler/whatif/precision/moments.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/step/segments.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr int kFewOperators = 4;
// That are looked at for one question: origins lie near, what is met may be behind many other calls.
constexpr uint32_t kMostBefore = 1000, kMostBehind = 10'000;

// What a tensor is first used with.
struct Met {
  uint32_t op = kNone;
  std::vector<uint32_t> blocks;
};

// cat([room[:, :0], other[:, :0]]): what has no elements may be of memory whose type is yet to be asked for.
bool SaysType(const Step& step, const Operand& operand) {
  return IsFloat(operand) && ElementsIn(step, operand) != 0;
}

// x.to(y.dtype): the source shows that the type of x may be another one.
bool AsksTensor(const Step& step, uint32_t op) {
  const Asks asks = step.ops[op].asks;
  return step.NameOf(step.ops[op]) == "aten::to" && (asks == Asks::kTensor || asks == Asks::kOrigin);
}

// x.to(y.dtype): y is what x is then used with, in the same call of a module. What is computed from x alone
// stands for it; with `as_made`, what that is converted to does not; with `handed_on`, in the calls below.
Met FirstMet(const Step& step, const std::vector<uint32_t>& calls, uint32_t op, uint32_t block,
             bool as_made = false, bool handed_on = false) {
  const uint32_t call = calls[op];
  const Position end = call == kNone ? kBefore : step.modules[call].end;
  const Takers& takers = TakersOf(step);
  std::set<uint32_t> same;
  std::set<std::pair<uint32_t, uint32_t>> next;  // of each of the same: the operator, and which one it is of
  const auto follow = [&](uint32_t one, uint32_t behind) {
    if (const uint32_t taker = takers.Next(one, behind); taker != kNone) next.emplace(taker, one);
  };
  same.insert(block);
  follow(block, op);
  for (uint32_t uses = 0; uses < kMostBehind && !next.empty(); ++uses) {
    const auto [i, of] = *next.begin();
    next.erase(next.begin());
    if (step.ops[i].begin >= end) break;
    follow(of, i);
    if (!handed_on && calls[i] != call) continue;
    const std::span<const Operand> inputs = InputsOf(step, step.ops[i]);
    const auto is_same = [&](const Operand& one) { return IsFloat(one) && same.contains(one.block); };
    if (std::none_of(inputs.begin(), inputs.end(), is_same)) continue;
    if (as_made && AsksTensor(step, i)) break;
    std::vector<uint32_t> others;
    for (const Operand& operand : inputs)
      if (SaysType(step, operand) && !is_same(operand)) others.push_back(operand.block);
    if (!others.empty()) return {i, others};
    for (const Operand& result : OutputsOf(step, step.ops[i]))
      if (result.block != kNone && same.insert(result.block).second) follow(result.block, i);
  }
  return {};
}

// y = y.to(x.dtype) behind `op`, before `until`.
bool IsAskedBetween(const Step& step, uint32_t block, uint32_t op, uint32_t until) {
  const Takers& takers = TakersOf(step);
  for (uint32_t i = takers.Next(block, op); i < until; i = takers.Next(block, i))
    if (AsksTensor(step, i) && InputsOf(step, step.ops[i])[0].block == block) return true;
  return false;
}

// Of a block that operators behind `op` make, as they will decide it; 0 where that is not that simple.
uint8_t TypeToBe(const Step& step, const Versions& versions, uint8_t low, uint32_t op, uint32_t block,
                 int operators) {
  if (versions.Known(block)) return versions.TypeOf(block);
  const uint32_t maker = OutermostMaker(step, block);
  if (operators == 0 || maker == kNone || maker <= op) return 0;
  const CastRule rule = AutocastRuleOf(step.NameOf(step.ops[maker]), step.torch_version);
  if (rule == CastRule::kLow) return low;
  if (rule != CastRule::kAsGiven && rule != CastRule::kPromote) return 0;
  uint8_t type = 0;
  for (const Operand& operand : InputsOf(step, step.ops[maker])) {
    if (!SaysType(step, operand)) continue;
    const uint8_t own = TypeToBe(step, versions, low, op, operand.block, operators - 1);
    if (own != low && IsAskedBetween(step, operand.block, op, maker)) continue;
    if (own != low) return own;
    type = low;
  }
  return type;
}

// y = x.float(): x.dtype stays what it was, though operators that are given y are said to be given x.
bool HasNarrowerName(const Step& step, const Versions& versions, uint32_t block) {
  const uint32_t by = versions.Known(block) ? versions.WidenedBy(block) : kNone;
  if (by == kNone || step.NameOf(step.ops[by]) != "aten::to") return false;
  const Op& widens = step.ops[by];
  return widens.asks == Asks::kType && !widens.again && InputsOf(step, widens)[0].block == block;
}

// hot = one_hot(distances.argmin()).type(x.dtype); hot.t() @ x: the type of integers' origin is that of the
// factor, which was there before, that they are converted to be multiplied with.
bool IsFactorOf(const Step& step, const Versions& versions, const std::vector<uint32_t>& calls, uint8_t type,
                uint32_t op, uint32_t made) {
  const Op& call = step.ops[op];
  if (call.asks != Asks::kOrigin || step.NameOf(call) != "aten::to" || call.input_count == 0 ||
      IsFloat(InputsOf(step, call)[0]))
    return false;
  const auto is_other = [&](const Operand& one) {
    return IsFloat(one) && one.block != made && step.blocks[one.block].begin < call.begin &&
           versions.Known(one.block) &&
           (versions.TypeOf(one.block) == type || HasNarrowerName(step, versions, one.block));
  };
  const Takers& takers = TakersOf(step);
  for (uint32_t i = takers.Next(made, op); i != kNone && step.ops[i].node == kNone;
       i = takers.Next(made, i)) {
    const bool product = AutocastRuleOf(step.NameOf(step.ops[i]), step.torch_version) == CastRule::kLow;
    if (product && calls[i] == calls[op] && std::ranges::any_of(InputsOf(step, step.ops[i]), is_other))
      return true;
  }
  return false;
}

// Of what an operator is given, other than what belongs to the model, the first of those types.
std::span<const Operand>::iterator FirstComputed(const Step& step, std::span<const Operand> inputs,
                                                 const std::function<bool(const Operand&)>& is = IsFloat) {
  return std::ranges::find_if(inputs, [&](const Operand& input) {
    return input.block != kNone && is(input) &&
           step.blocks[input.block].category != classify::Category::kParameter &&
           step.blocks[input.block].category != classify::Category::kBuffer;
  });
}

// (x >= low) & (x < high), rfft2(x) * weight: comparisons and spectra stand for what they are of.
std::span<const Operand>::iterator FirstOrigin(const Step& step, std::span<const Operand> inputs) {
  const auto computed = FirstComputed(step, inputs);
  if (computed != inputs.end()) return computed;
  return FirstComputed(step, inputs, [](const Operand& input) {
    return input.dtype == kBoolType || input.dtype == kComplexType;
  });
}

// The first call behind `since` that asks for it in a type which the source names; kNone: there is none.
uint32_t AskedInFloat(const Step& step, uint32_t block, Position since) {
  const Takers& takers = TakersOf(step);
  uint32_t op = takers.Next(block, OutermostMaker(step, block));
  while (op != kNone && !(step.ops[op].begin >= since && step.ops[op].asks == Asks::kType))
    op = takers.Next(block, op);
  return op;
}

// kind = x.dtype; x = x.float(); x = x * silu(gate.float()); x.to(kind): of what something that the call made
// wide was computed from, the type that a variable had which then stood for it in float32. And of
// (x.float() + gate.float() * y).to(x.dtype), where x is known to come `first`. 0 where the call made that
// wide, or nothing shows.
uint8_t TypeOfRenamed(const Step& step, const Versions& versions, uint32_t block, Position since,
                      bool first) {
  const auto is_itself = [&](uint32_t one) {
    return first && versions.Known(one) && versions.TypeOf(one) == kFloatType &&
           versions.WidenedBy(one) == kNone && AskedInFloat(step, one, since) != kNone;
  };
  for (uint32_t steps = 0; step.blocks[block].begin >= since; ++steps) {
    if (steps != 0 && is_itself(block)) return kFloatType;
    const uint32_t op = OutermostMaker(step, block);
    if (op == kNone || step.ops[op].node != kNone || steps == kMostBefore) return 0;
    const std::span<const Operand> inputs = InputsOf(step, step.ops[op]);
    const auto computed = FirstComputed(step, inputs);
    if (computed == inputs.end() || computed->block == block) return 0;
    block = computed->block;
  }
  const uint32_t widened = versions.WidenedBy(block);
  if (!versions.Known(block) || step.blocks[block].begin == kBefore ||
      (widened != kNone && step.ops[widened].begin >= since))
    return 0;
  const uint32_t op = AskedInFloat(step, block, since);
  return op != kNone && (first || step.ops[op].again) ? versions.TypeOf(block) : 0;
}

}  // namespace

bool AsksForParameter(const Step& step, const Op& op) {
  return op.asks == Asks::kTensor && op.asked != kNone &&
         step.blocks[op.asked].category == classify::Category::kParameter;
}

uint8_t TypeOfTold(const Step& step, const Versions& versions, uint32_t op) {
  const Asks asks = step.ops[op].asks;
  const bool told = (asks == Asks::kTensor || asks == Asks::kOrigin) && step.ops[op].asked != kNone;
  if (!told) return 0;
  const uint32_t asked = step.ops[op].asked;
  if (HasNarrowerName(step, versions, asked)) return 0;
  return AsksForParameter(step, step.ops[op]) ? versions.TypeOfVersion(asked) : versions.TypeOf(asked);
}

// softmax(query @ keys, dtype=torch.float32).to(query.dtype): behind the product are numbers and masks. What
// the program itself converted is given back what it was.
uint8_t TypeOfOrigin(const Step& step, const Versions& versions, uint32_t block, Position since,
                     bool known_first) {
  const uint32_t widened = versions.WidenedBy(block);
  if (widened != kNone && step.ops[widened].begin >= since && step.NameOf(step.ops[widened]) == "aten::to")
    return TypeOfRenamed(step, versions, block, since, known_first);
  bool called = false;
  for (uint32_t steps = 0; steps < std::min<size_t>(step.ops.size(), kMostBefore); ++steps) {
    if (step.blocks[block].begin < since) return versions.Known(block) ? versions.TypeOf(block) : 0;
    uint32_t op = step.blocks[block].op;
    while (op != kNone && step.ops[op].parent != kNone) op = step.ops[op].parent;
    if (op == kNone || step.ops[op].node != kNone) return 0;
    // What the last module that was called from here returned, unless that is what is converted, or wide.
    const uint32_t call = called ? kNone : CallAt(step, step.ops[op].begin);
    if (call != kNone && step.modules[call].begin > since) {
      const uint8_t returned = versions.Known(block) ? versions.TypeOf(block) : kFloatType;
      if (steps != 0 && returned != kFloatType) return returned;
      called = true;
    }
    const std::span<const Operand> inputs = InputsOf(step, step.ops[op]);
    const auto first = FirstOrigin(step, inputs);
    if (first == inputs.end() || first->block == block) return 0;
    const std::string_view name = step.NameOf(step.ops[op]);
    if (AutocastRuleOf(name, step.torch_version) == CastRule::kLow) {
      // alibi.baddbmm(query, keys): what is added comes first, if it is not a bias.
      const bool adds = first == inputs.begin() &&
                        (name == "aten::baddbmm" || name == "aten::addmm" || name == "aten::addbmm");
      const auto factor = adds ? std::find_if(first + 1, inputs.end(), IsFloat) : first;
      return factor == inputs.end() ? 0 : versions.TypeOf(factor->block);
    }
    block = first->block;
  }
  return 0;
}

uint8_t TypeMet(const Step& step, const Versions& versions, const std::vector<uint32_t>& calls, uint32_t op,
                uint8_t low) {
  const uint32_t block = InputsOf(step, step.ops[op])[0].block;
  std::vector<uint32_t> met = FirstMet(step, calls, op, block).blocks;
  if (!met.empty())
    return low == 0 ? versions.TypeOf(met.back())
                    : TypeToBe(step, versions, low, op, met.back(), kFewOperators);
  // decay = decay.to(state.dtype); self.cell(state, decay): both are handed on. What the module computes
  // before it uses x is not y, which was there when its type was asked for.
  met = FirstMet(step, calls, op, block, false, true).blocks;
  const bool there = !met.empty() && step.blocks[met.back()].begin < step.ops[op].begin &&
                     step.blocks[met.back()].category != classify::Category::kParameter;
  return there && versions.Known(met.back()) ? versions.TypeOf(met.back()) : 0;
}

bool MeetsType(const Step& step, const Versions& versions, const std::vector<uint32_t>& calls, uint8_t type,
               uint32_t op, uint32_t made, const std::function<bool(uint32_t)>& widens) {
  if (IsFactorOf(step, versions, calls, type, op, made)) return true;
  const Met met = FirstMet(step, calls, op, made, true);
  return std::any_of(met.blocks.begin(), met.blocks.end(), [&](uint32_t block) {
    const Takers& takers = TakersOf(step);
    for (uint32_t i = takers.Next(block, op); i < met.op; i = takers.Next(block, i))
      if (widens(i) && InputsOf(step, step.ops[i])[0].block == block) return false;
    return TypeToBe(step, versions, type, op, block, kFewOperators) == type;
  });
}

bool IsOfCompared(const Step& step, const Versions& versions, const std::vector<uint32_t>& calls,
                  uint8_t type, uint32_t op) {
  const Op& call = step.ops[op];
  if (call.asks != Asks::kOrigin || call.input_count == 0 || InputsOf(step, call)[0].dtype != kBoolType)
    return false;
  const Position since = calls[op] == kNone ? kBefore : step.modules[calls[op]].begin;
  return TypeOfOrigin(step, versions, InputsOf(step, call)[0].block, since) == type;
}

uint8_t PromotedBy(const Step& step, const Versions& versions, uint32_t op) {
  const uint8_t own = versions.TypeAround(step.ops[op]);
  if (op == 0 || AppendedToNothing(step, step.ops[op]).second == kNone) return own;
  uint32_t before = op - 1;  // the operator that returned last
  while (step.ops[before].parent != kNone) before = step.ops[before].parent;
  const uint32_t keys = AppendedToNothing(step, step.ops[before]).second;
  return keys != kNone && versions.Known(keys) && versions.TypeOf(keys) == kFloatType ? kFloatType : own;
}

bool MultipliesFloat(const Step& step, const Versions& versions, const std::vector<uint32_t>& calls,
                     uint32_t op, uint32_t made) {
  const Met met = FirstMet(step, calls, op, made);
  if (met.op == kNone || AutocastRuleOf(step.NameOf(step.ops[met.op]), step.torch_version) != CastRule::kLow)
    return false;
  return std::ranges::all_of(met.blocks, [&](uint32_t block) {
    const uint32_t widened = versions.WidenedBy(block);
    return widened != kNone && step.ops[widened].asks == Asks::kType && versions.TypeOf(block) == kFloatType;
  });
}

bool TakesCopiesOfFloat(const Step& step, const Versions& versions, const std::vector<uint32_t>& calls,
                        uint32_t op, uint32_t made) {
  const Met met = FirstMet(step, calls, op, made);
  if (met.op == kNone || step.NameOf(step.ops[met.op]) != "aten::copy_" ||
      InputsOf(step, step.ops[met.op])[0].block != made)
    return false;
  return std::ranges::all_of(met.blocks, [&](uint32_t block) {
    return versions.WidenedBy(block) != kNone && versions.TypeOf(block) == kFloatType;
  });
}

bool IsAskedInto(const Step& step, const Versions& versions, uint8_t type, uint32_t op) {
  const Operand& converted = InputsOf(step, step.ops[op])[0];
  return TypeOfTold(step, versions, op) == type && IsFloat(converted) &&
         versions.TypeOf(converted.block) == kFloatType;
}

bool MakesTensor(const Step& step, uint32_t op) {
  const Op& call = step.ops[op];
  if (step.NameOf(call) != "aten::to" || call.output_count == 0) return false;
  const uint32_t made = OutputsOf(step, call)[0].block;
  if (made == kNone) return false;
  uint32_t next = TakersOf(step).Next(made, op);
  while (next != kNone && step.ops[next].begin < call.end) next = TakersOf(step).Next(made, next);
  return next != kNone && step.NameOf(step.ops[next]) == "aten::lift_fresh";
}

bool IsForLoss(const Step& step, uint32_t op) {
  if (step.ops[op].asks != Asks::kNotTold) return false;
  uint32_t block = InputsOf(step, step.ops[op])[0].block;
  const Takers& takers = TakersOf(step);
  uint32_t next = takers.Next(block, op);
  for (int shapes = 0; next != kNone && shapes < kFewOperators; ++shapes) {
    const Op& taker = step.ops[next];
    const std::string_view name = step.NameOf(taker);
    if (name == "aten::cross_entropy_loss") return taker.node == kNone;
    const bool same = taker.output_count == 1 && OutputsOf(step, taker)[0].block == block;
    if (!same && name != "aten::contiguous" && name != "aten::reshape") return false;
    block = OutputsOf(step, taker)[0].block;
    next = takers.Next(block, next);
  }
  return false;
}

uint8_t TypeMadeLast(const Step& step, const Versions& versions, const std::vector<uint32_t>& calls,
                     uint32_t op) {
  const uint32_t block = InputsOf(step, step.ops[op])[0].block;
  const uint32_t made = OutermostMaker(step, block);
  if (calls[op] == kNone || made == kNone || calls[made] == calls[op]) return 0;
  for (uint32_t i = made; i-- > 0 && step.ops[i].begin > step.modules[calls[op]].begin;) {
    if (calls[i] != calls[op] || step.ops[i].node != kNone || step.ops[i].parent != kNone) continue;
    for (const Operand& result : OutputsOf(step, step.ops[i]))
      if (IsFloat(result) && result.block != block && versions.Known(result.block))
        return versions.TypeOf(result.block);
  }
  return 0;
}

uint8_t TypeAskedFor(const Step& step, const Versions& versions, const std::vector<uint32_t>& calls,
                     uint32_t op, bool whole, uint8_t low) {
  const Asks asks = step.ops[op].asks;
  if (const uint8_t told = TypeOfTold(step, versions, op); told != 0) return told;
  if (asks == Asks::kTensor) return TypeMet(step, versions, calls, op, low);
  if (asks != Asks::kOrigin) return 0;
  const Position since = calls[op] == kNone ? kBefore : step.modules[calls[op]].begin;
  return TypeOfOrigin(step, versions, InputsOf(step, step.ops[op])[0].block, since,
                      step.ops[op].first && !whole);
}

}  // namespace vramscope::whatif
