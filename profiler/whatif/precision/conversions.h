// SPDX-License-Identifier: Apache-2.0
// What a program itself converts when its tensors are in 16 bits: x.float(), x.to(y.dtype), x.type_as(y).
//
// Why found out in turns: in float32 these calls do nothing, and one that only moves (x.to(device)) is
// recorded like one that converts. That products of matrices refuse operands of two types tells them apart,
// but only behind the call:
//
//   x = x.to(device) ─ linear             refused: the call converts nothing
//   y = x.to(float).pow(2).mean(); z = x * rsqrt(y); [z = z.to(w.dtype)]; z = w * z ─ linear
//                                         refused: z was converted back when it met w, after a question
//   m = ones(); m = m.to(x.dtype); x = x * m ─ linear
//                                         refused: the call asked for what is beside it
#pragma once

#include <set>
#include <unordered_map>
#include <vector>

#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"
#include "profiler/whatif/step/viewed_tensors.h"

namespace vramscope::whatif {

// By numbers of operators.
struct FoundConversions {
  std::set<uint32_t> idle;       // convert nothing
  std::set<uint32_t> passing;    // make something wider for the operator behind them alone
  std::set<uint32_t> narrowing;  // before them the program converts back, if weights are in 16 bits
  std::set<uint32_t> asking;     // for the type of another tensor, of what was made in float32

  [[nodiscard]] size_t size() const {
    return idle.size() + passing.size() + narrowing.size() + asking.size();
  }
  void Add(const FoundConversions& more);
};

class Conversions {
 public:
  // `found`: in the turns before. `whole`: the model is in 16 bits, not under autocast.
  Conversions(const Step& step, uint8_t low, bool whole, FoundConversions found, Versions& versions);

  [[nodiscard]] const FoundConversions& found() const { return new_; }  // in this turn
  // The first operator that was given two types and takes one alone; in the last turn it is not understood.
  [[nodiscard]] uint32_t refuses() const { return refuses_; }

  // Before and behind an operator of forward.
  void Begin(uint32_t op);
  void End(uint32_t op);
  // `result` has become float in this operator: whether the program made it wider than it would be.
  void MarkWidened(uint32_t op, uint32_t result);
  // The node that is given this gradient made in forward what the program itself converted for a product,
  // which autocast converted back: the gradient takes that way too, from one node of autograd, at `there`,
  // to the next.
  void PassBack(const Operand& gradient, uint32_t node, Position there);
  // Whether the program converted back what was made wider in the operator that made the node.
  [[nodiscard]] bool TookBack(uint32_t node) const;
  // Whether it takes operands of one type alone, and one of them is low.
  [[nodiscard]] bool WantsLow(uint32_t op) const { return Refuses(op) && TakesLow(step_.ops[op]); }

  [[nodiscard]] bool InModule(uint32_t op) const { return call_[op] != model::kNone; }
  // Of what the operator, which was told a type, makes from nothing: what that first meets in the same call
  // of a module may tell, torch.zeros(..., dtype=query.dtype).
  [[nodiscard]] uint8_t TypeMade(uint32_t op, uint32_t made) const;
  // The type that the program's source shows to be asked for where the operator, or the one around it, makes
  // a tensor, in a call of a module: zeros_like(x, dtype=y.dtype). Else `otherwise`: of what goes in; 0:
  // nothing.
  [[nodiscard]] uint8_t TypeNamed(uint32_t op, uint8_t otherwise) const;
  // Whether what the loop makes there is for its loss alone.
  [[nodiscard]] bool IsMadeForLoss(uint32_t op) const;
  // Of what the program converts with a copy in the record too, x.to(type, memory_format=contiguous_format);
  // `op` is the one inside that copies.
  [[nodiscard]] uint8_t TypeOfCopy(uint32_t op) const;

 private:
  [[nodiscard]] bool IsWider(const Operand& operand) const;
  [[nodiscard]] bool TakesLow(const Op& op) const;
  [[nodiscard]] bool Refuses(uint32_t op) const;
  [[nodiscard]] bool MixesInNorm(const Op& op) const;
  void Refute(uint32_t by);
  void NoteWeightMet(uint32_t op);
  // x.to(type) of floats, which does nothing in the record.
  [[nodiscard]] bool IsConversion(uint32_t op) const;
  void Convert(uint32_t op);
  void OnlyNames(uint32_t block, uint32_t op);
  void HandOutAgain(uint32_t block, uint32_t low);
  [[nodiscard]] bool DoesNothing(uint32_t op) const;
  // Whether the block was made wide before the module was called that the operator is in.
  [[nodiscard]] bool WidenedBefore(uint32_t block, uint32_t op) const;
  // Whether what the program converts to the type of its origin may be as wide as that.
  [[nodiscard]] bool CameWide(uint32_t block, uint32_t op) const;
  [[nodiscard]] bool JustWidened(uint32_t block, uint32_t op) const;
  [[nodiscard]] uint32_t CalledWith(uint32_t op) const;
  // Whether the call makes what another one in the same call of a module made wider, wider again.
  [[nodiscard]] bool AskedAgain(uint32_t op) const;
  // Whether a variable holds then what the conversion returned.
  [[nodiscard]] bool IsNamedAt(uint32_t conversion, uint32_t op) const {
    return step_.ops[conversion].named >= step_.ops[op].begin;
  }
  void ShowOthers(uint32_t op);
  void HideOthers(uint32_t op);
  void Ask(uint32_t op, const Operand& from);
  void ConvertToParameters(uint32_t op);
  void TakeBack(uint32_t op, const Operand& wide);
  // Whether it was there before the call of a module that the operator is in.
  [[nodiscard]] bool IsGiven(uint32_t block, uint32_t op) const {
    return call_[op] != model::kNone && step_.blocks[block].begin < step_.modules[call_[op]].begin;
  }
  // Whether forward works on the block itself once more, behind the operator that takes what `op` returns.
  [[nodiscard]] bool IsUsedAgain(uint32_t block, uint32_t op) const;
  // Whether a name may hold the block longer than shows here.
  [[nodiscard]] bool HoldWide(uint32_t block, uint32_t op);
  // When the function returns that ends with this call of to(); kForever where nothing shows.
  [[nodiscard]] Position ReturnedBehind(uint32_t op) const;
  // When the function returns that made the block and hands out what `op` converts it back to; kForever:
  // it does not. `op` is asked in their order.
  [[nodiscard]] Position Returned(uint32_t block, uint32_t op);
  [[nodiscard]] bool TakesBack(uint32_t op, uint32_t call) const;
  void TakeName(const Op& op);
  void MarkComplex(uint32_t op);
  void ConvertAs(uint32_t op);
  void Remember(uint32_t block, uint32_t op);
  void NoteUses(const Op& op);
  void LeaveCalls(Position at);

  // The tensor itself, of which a variable inside a call of a module stands for a copy now.
  struct Itself {
    uint32_t block, version;
    Position until;         // the call ends
    bool for_one_operator;  // or the first use of the copy
    bool used;
  };

  // What the call `op` made of a version of a block, of the tensor `view`.
  struct MadeWide {
    uint32_t op, view, low, wide;
  };
  struct Unnamed : MadeWide {
    bool used = false;
  };

  // While `op` works: it sees another version of a block than what is current.
  struct Other {
    uint32_t op, block, shown, current;
  };

  const Step& step_;
  const uint8_t low_;
  const bool whole_;
  const FoundConversions found_;
  FoundConversions new_;
  Versions& versions_;
  ViewedTensors views_;
  std::vector<uint32_t> call_;    // by operator: the innermost module call around it
  std::vector<uint32_t> weight_;  // by operator that widens: the one where what it made first meets a weight
  std::vector<Itself> themselves_;
  std::unordered_map<uint32_t, Unnamed> unnamed_;  // by block: the last one
  std::vector<Other> others_;
  std::unordered_map<uint32_t, std::vector<MadeWide>> made_wide_;  // by block
  std::set<uint32_t> asked_;        // operators that may have asked for another tensor's type
  std::vector<bool> to_parameter_;  // by block: converted to the type of a parameter
  std::vector<bool> taken_back_;    // by block: made wider, and converted back
  std::unordered_map<uint32_t, uint32_t> handed_out_;  // by block: what converted it when it was handed out
  uint32_t refuses_ = model::kNone;
  uint32_t last_returned_ = model::kNone;  // the last operator of a run of conversions that were handed out
  size_t next_branch_ = 0;                 // into Step::to_parameter
};

}  // namespace vramscope::whatif
