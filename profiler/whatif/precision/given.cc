// SPDX-License-Identifier: Apache-2.0
// Conversions and the calls of modules around them: what a module was given, what it is given, and what its
// caller's variables stand for when it has returned.
#include <algorithm>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/lifetimes/last_uses.h"
#include "profiler/whatif/precision/asked_types.h"
#include "profiler/whatif/precision/conversions.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/source/factory_facts.h"

namespace vramscope::whatif {

using model::kNone;

bool Conversions::WidenedBefore(uint32_t block, uint32_t op) const {
  const uint32_t widened = versions_.WidenedBy(block), call = call_[op];
  return widened != kNone && call != kNone && step_.ops[widened].begin < step_.modules[call].begin;
}

// return weight * x.to(type): of an x that was wide when the module was called, its type is. So may be what x
// was computed from, beside something that the module made wide.
bool Conversions::CameWide(uint32_t block, uint32_t op) const {
  const uint32_t widened = versions_.WidenedBy(block);
  return step_.ops[op].asks == Asks::kOrigin && widened != kNone && call_[op] != kNone &&
         (WidenedBefore(block, op) || step_.NameOf(step_.ops[widened]) == "aten::to");
}

// logits = self.head(x).float(), and logits.float() in a function whose source was not told: nobody makes
// something wider and converts it back with nothing computed between.
bool Conversions::JustWidened(uint32_t block, uint32_t op) const {
  const auto found = unnamed_.find(block);
  return step_.ops[op].asks == Asks::kNotTold && found != unnamed_.end() && !found->second.used &&
         step_.ops[found->second.op].asks == Asks::kType && versions_.Current(block) == found->second.wide;
}

// def forward(x): x = x.to(float32); ... leaves the caller's x what it was.
void Conversions::Remember(uint32_t block, uint32_t op) {
  const bool given = IsGiven(block, op);
  const uint32_t argument = CalledWith(op);  // which has it for the whole of its call
  const bool once = found_.passing.contains(op) || (step_.ops[op].taken && argument == kNone);
  if (given || once || argument != kNone)
    themselves_.push_back({block, versions_.Current(block),
                           argument != kNone ? step_.modules[argument].HoldsUntil()
                           : given           ? step_.modules[call_[op]].end
                                             : kForever,
                           once, false});
}

// self.norm(x.to(self.norm.weight.dtype)): the module that is given what the conversion makes, which has no
// name.
uint32_t Conversions::CalledWith(uint32_t op) const {
  const Op& call = step_.ops[op];
  if (call.asks == Asks::kNotTold || call.again || call.named > kBefore || call_[op] == kNone) return kNone;
  const uint32_t next = NextOutermost(step_, op);
  if (next == step_.ops.size() || call_[next] == call_[op]) return kNone;
  uint32_t called = call_[next];
  while (called != kNone && step_.modules[called].parent != call_[op]) called = step_.modules[called].parent;
  return called != kNone && step_.modules[called].begin > call.begin ? called : kNone;
}

// The operator behind x.to(float32).pow(2) works on the copy; the variable is what it was.
void Conversions::NoteUses(const Op& op) {
  const bool in_place = step_.NameOf(op).ends_with('_');
  for (const Operand& operand : InputsOf(step_, op)) {
    const auto unnamed = unnamed_.find(operand.block);
    if (unnamed != unnamed_.end()) unnamed->second.used = true;
    // What is changed is converted back.
    if (unnamed != unnamed_.end() && in_place) unnamed_.erase(unnamed);
    std::erase_if(themselves_, [&](Itself& one) {
      if (one.block != operand.block) return false;
      one.used = true;
      if (one.for_one_operator) versions_.SetCurrent(one.block, one.version);
      return one.for_one_operator;
    });
  }
}

// A copy that nothing used in the call is what it returns.
void Conversions::LeaveCalls(Position at) {
  for (size_t i = themselves_.size(); i-- > 0;) {
    if (themselves_[i].until > at) continue;
    if (themselves_[i].used) versions_.SetCurrent(themselves_[i].block, themselves_[i].version);
    themselves_.erase(themselves_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Behind the first call of the model, and given to no module.
bool Conversions::IsMadeForLoss(uint32_t op) const {
  const Op& made = step_.ops[op];
  if (InModule(op) || step_.modules.empty() || made.begin < step_.modules.front().end ||
      made.output_count == 0)
    return false;
  const uint32_t block = OutputsOf(step_, made)[0].block;
  const Takers& takers = TakersOf(step_);
  for (uint32_t i = takers.Next(block, op); i != kNone; i = takers.Next(block, i))
    if (InModule(i)) return false;
  return true;
}

uint8_t Conversions::TypeNamed(uint32_t op, uint8_t otherwise) const {
  while (otherwise != 0 && step_.ops[op].parent != kNone) op = step_.ops[op].parent;
  const Op& made = step_.ops[op];
  if (otherwise == 0 && made.asks == Asks::kNotTold && MakesTensor(step_, op)) return kFloatType;
  const bool factory = IsFactory(step_.NameOf(made));
  // A type that a loop names stands for that of its batches; one that it asks a tensor for does not, nor what
  // it names for what its loss compares: (labels == labels.T).float().
  const bool of_tensor = made.asks == Asks::kTensor && made.asked != kNone;
  const bool of_loss = made.asks == Asks::kType && IsMadeForLoss(op);
  if (!of_tensor && !of_loss && !InModule(op)) return otherwise;
  if (made.dtype == 0 || (otherwise != 0 && !factory)) return otherwise;
  if (step_.Text(made.dtype) != kFloatName) return otherwise;
  if (made.asks == Asks::kType) return kFloatType;
  const uint8_t told = factory ? TypeOfTold(step_, versions_, op) : 0;
  return told != 0 ? told : otherwise;
}

}  // namespace vramscope::whatif
