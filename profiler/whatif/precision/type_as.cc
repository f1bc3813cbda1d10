// SPDX-License-Identifier: Apache-2.0
// x.type_as(y): the type of another tensor, whichever that has by then.
#include <algorithm>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/precision/conversions.h"
#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/precision/moments.h"
#include "profiler/whatif/precision/precision.h"

namespace vramscope::whatif {

using model::kNone;

// output.type_as(x), where both are wide, would do nothing with any type of the model: the program means what
// x was before. f(x.float()) gave the copy no name.
void Conversions::TakeName(const Op& op) {
  const std::span<const Operand> inputs = InputsOf(step_, op);
  if (inputs.size() < 2 || !IsWider(inputs[0]) || !IsWider(inputs[1])) return;
  const uint32_t block = inputs[1].block;
  if (!versions_.IsLow(block)) {
    // x may be a low copy itself, of what a norm before made in float32 and gave back.
    const auto found = unnamed_.find(block);
    if (found != unnamed_.end() && versions_.Current(block) == found->second.wide &&
        versions_.TypeOfVersion(found->second.low) == low_)
      versions_.SetCurrent(block, found->second.low);
    return;
  }
  versions_.SetCurrent(block, block);
  std::erase_if(themselves_, [&](const Itself& one) { return one.block == block; });
}

// view_as_real(view_as_complex(x.float()) * turned).type_as(x): what is complex between is as wide.
void Conversions::MarkComplex(uint32_t op) {
  for (const Operand& result : OutputsOf(step_, step_.ops[op])) {
    if (result.block == kNone || result.dtype != kComplexType || versions_.Known(result.block)) continue;
    if (std::ranges::none_of(InputsOf(step_, step_.ops[op]), [&](const Operand& one) {
          return one.block != kNone && versions_.Known(one.block) && versions_.Widened(one.block);
        }))
      continue;
    versions_.Decide(result.block, kFloatType);
    MarkWidened(op, result.block);
  }
}

// output.type_as(x)
void Conversions::ConvertAs(uint32_t op) {
  const std::span<const Operand> inputs = InputsOf(step_, step_.ops[op]);
  if (inputs.size() < 2 || !IsFloat(inputs[0]) || !IsFloat(inputs[1])) return;
  const uint32_t block = inputs[0].block;
  const uint8_t wanted = versions_.TypeOf(inputs[1].block);
  if (!versions_.Known(block) || wanted == 0 || versions_.TypeOf(block) == wanted) return;
  taken_back_[block] = taken_back_[block] || wanted == low_;
  const Op& call = step_.ops[op];
  const Position returned = Returned(block, op), at = call.begin + kStride;
  const uint32_t next = NextOutermost(step_, op);
  const Position until = next < step_.ops.size() ? step_.ops[next].begin : kForever;
  // x = x.type_as(y)
  if (returned >= kForever && AreNamesKnown(step_, block) && NamedUntil(step_, block) <= until)
    versions_.Replace(block, wanted, at, inputs[0]);
  else
    versions_.Cast(block, wanted, at, kNone, inputs[0]);
  if (call.named > kBefore) versions_.Used(block, call.named);
  if (returned < kForever) versions_.Return(block, returned);
}

// type = query.dtype; query = query.float(); ...; x.to(type): what the program made wider it takes back.
uint8_t Conversions::TypeOfCopy(uint32_t op) const {
  const uint32_t call = step_.ops[op].parent;
  const uint8_t leaf = whole_ ? low_ : kFloatType;
  if (whole_ || call == kNone || step_.NameOf(step_.ops[call]) != "aten::to") return leaf;
  const std::span<const Operand> inputs = InputsOf(step_, step_.ops[call]);
  if (step_.ops[call].asks != Asks::kOrigin || inputs.empty() || !IsWider(inputs[0])) return leaf;
  return asked_.contains(versions_.WidenedBy(inputs[0].block)) ? leaf : low_;
}

// What is seen to hold a block that the program converts holds the copy, but for the names that it has then.
void Conversions::OnlyNames(uint32_t block, uint32_t op) {
  if (!AreNamesKnown(step_, block)) return;
  const Position named = NamedUntil(step_, block);
  versions_.NamedAtMost(block, named);
  const uint32_t maker = OutermostMaker(step_, block);
  if (maker == kNone) return;
  // What a module returned has the names of the function that called it, unless that converted it before and
  // got nothing new: then parts of it have them.
  uint32_t call = call_[maker];
  while (call != kNone && call != call_[op]) call = step_.modules[call].parent;
  bool first = true;
  for (uint32_t i = maker; call != call_[maker] && i < op; ++i)
    first = first && !(IsConversion(i) && InputsOf(step_, step_.ops[i])[0].block == block);
  if (call == call_[op] && first) versions_.HeldAtMost(block, named);
}

// q = norm(x).to(q.dtype), where the norm returned y.to(x.dtype): what that made has no name.
void Conversions::HandOutAgain(uint32_t block, uint32_t low) {
  const auto handed = handed_out_.find(block);
  if (handed == handed_out_.end() || step_.ops[handed->second].named > kBefore) return;
  if (AreNamesKnown(step_, block)) versions_.ReturnAgain(block, low);
}

}  // namespace vramscope::whatif
