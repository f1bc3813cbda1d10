// SPDX-License-Identifier: Apache-2.0
// The element types that blocks of a step get, and the copies of another type that stand beside them.
//
// Each block of the recorded step has a current version: itself, or the copy that operators work on now. At
// the end the lives are dealt out: whoever held the block longest in the record holds the version that it
// saw, and the others end with their last use.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class Versions {
 public:
  // `first`: the type of parameters, and of all floats that no operator made.
  Versions(const Step& step, uint8_t first);

  // Whether the type of the block is decided.
  [[nodiscard]] bool Known(uint32_t block) const { return types_[current_[block]] != 0; }
  [[nodiscard]] uint8_t TypeOf(uint32_t block) const { return types_[current_[block]]; }
  [[nodiscard]] uint32_t Current(uint32_t block) const { return current_[block]; }
  [[nodiscard]] Position MadeAt(uint32_t version) const { return changed_.blocks[version].begin; }
  [[nodiscard]] uint64_t BytesOfVersion(uint32_t version) const { return changed_.blocks[version].requested; }
  [[nodiscard]] bool IsCopy(uint32_t block) const { return current_[block] >= recorded_; }
  // The widest type of these operands, of those with dimensions when there are any; 0 when none is decided.
  [[nodiscard]] uint8_t PromotedOf(std::span<const Operand> operands) const;
  // That of what goes into an operator; of floats that were made from nothing inside another one, of what
  // goes into that: scaled_dot_product_attention makes an added mask of one of bools.
  [[nodiscard]] uint8_t TypeAround(const Op& op) const;
  // That of the first one that is decided.
  [[nodiscard]] uint8_t FirstOf(std::span<const Operand> operands, uint8_t otherwise) const;
  // Whether the block itself, not a copy, has become low.
  [[nodiscard]] bool IsLow(uint32_t block) const;
  // IsLow, by block of the recorded step.
  [[nodiscard]] std::vector<bool> LowBlocks() const;
  [[nodiscard]] bool IsTrained(uint32_t block) const;
  // What autocast keeps copies of: parameters, not parts or other views of them (cached_cast). It asks the
  // tensor, whether it is a leaf that requires a gradient: so does one that the loss does not come to, or any
  // without backward.
  [[nodiscard]] bool IsWeight(const Operand& operand) const;
  // The operator that autocast's copy of a parameter, of the last part, was made for; kNone: there is none.
  [[nodiscard]] uint32_t CachedBy(uint32_t block) const {
    return block < recorded_ && cached_[block] != model::kNone ? changed_.blocks[cached_[block]].op
                                                               : model::kNone;
  }
  // Whether the program itself made it, or what it is computed from, wider than the low type.
  [[nodiscard]] bool Widened(uint32_t block) const { return WidenedBy(block) != model::kNone; }
  // The operator that did so first.
  [[nodiscard]] uint32_t WidenedBy(uint32_t block) const { return widened_[current_[block]]; }

  // When the program made a low copy of a block in float32; kBefore: it did not.
  [[nodiscard]] Position NarrowedAt(uint32_t block) const;
  // Whether the program itself converted one of them to that type: a node converts the copy's gradient.
  [[nodiscard]] bool HaveConverted(std::span<const Operand> operands, uint8_t type) const;
  // Whether no operator made the version for itself.
  [[nodiscard]] bool IsByProgram(uint32_t version) const {
    return changed_.blocks[version].op == model::kNone;
  }
  // Whether a node converted it in backward.
  [[nodiscard]] bool IsUnseen(uint32_t block) const { return unseen_[block]; }
  // `at`, or where the block's version was not there yet, `otherwise`.
  [[nodiscard]] Position AfterCopy(uint32_t block, Position at, Position otherwise) const {
    return at > changed_.blocks[current_[block]].begin ? at : otherwise;
  }

  [[nodiscard]] uint8_t TypeOfVersion(uint32_t version) const { return types_[version]; }
  void SetCurrent(uint32_t block, uint32_t version) { current_[block] = version; }
  void Decide(uint32_t block, uint8_t type) { types_[block] = type; }
  void Widen(uint32_t block, uint32_t by) { widened_[current_[block]] = by; }
  void Used(uint32_t block, Position at);
  // An operator uses it, whose node lets go of it at `until`, behind the sum of what comes out.
  void GivenToNode(const Operand& operand, Position used, Position until);
  // A conversion is a node of its own, before the sum: the node before it has let go of the version.
  void GivenUp(uint32_t version, Position at);
  // What was computed in `type` the operator that made the block has converted at `at` to what is recorded.
  void WidenItself(uint32_t block, uint8_t type, Position at);
  // A variable of the program holds the block itself, whatever is made of it.
  void Held(uint32_t block, Holders::Lasting until) {
    uint32_t version = changed_.blocks[block].replaced < kForever ? current_[block] : block;
    if (returned_[block] != model::kNone) version = returned_[block];
    held_[version] =
        std::max(held_[version], version == block ? std::min(until.held, seen_[block]) : until.held);
    named_[version] =
        std::max(named_[version], version == block ? std::min(until.named, longest_[block]) : until.named);
  }
  void Held(uint32_t block, Position until) { Held(block, Holders::Lasting{until, kBefore}); }
  // Variables of functions that seem to hold the block hold what was made of it: itself at most until then.
  void NamedAtMost(uint32_t block, Position until) {
    longest_[block] = std::min(longest_[block], until);
    named_[block] = std::min(named_[block], until);
  }

  // So do variables that were seen: nothing else has it than those of the function that made it.
  void HeldAtMost(uint32_t block, Position until) {
    seen_[block] = std::min(seen_[block], until);
    held_[block] = std::min(held_[block], until);
  }

  // The current version is all that the function which made the block hands out: who has the block in the
  // record has that.
  void Return(uint32_t block, Position at);
  // The caller has converted that, `from`, at once: it has what is current now.
  void ReturnAgain(uint32_t block, uint32_t from) {
    if (returned_[block] != from) return;
    SwapNames(from, current_[block]);
    returned_[block] = current_[block];
  }

  // In backward: the version of that type that is there and is the block as it is now; kNone: there is none.
  // `seen`: the part of the block that it must have; nullptr: any.
  [[nodiscard]] uint32_t Standing(uint32_t block, uint8_t type, const Operand* seen = nullptr) const;
  // In backward, before an operator works on the tensor: what cat() and stack() were given have gradients
  // that are parts of one block, and copies of their own.
  void See(const Operand& operand);
  // A new copy that is the block's current version from now on; in backward one that is there already is
  // taken. `op`: the operator of forward that converts; its copy ends with it unless a node keeps it.
  void Cast(uint32_t block, uint8_t type, Position at, uint32_t op, const Operand& operand);
  // x = x.contiguous(): no variable holds the block any more.
  void Replace(uint32_t block, uint8_t type, Position at, const Operand& operand);
  // x = x.to(...), where the function that has the variable returns at `until`.
  void Rename(uint32_t block, uint8_t type, Position at, Position until, const Operand& operand);
  // From that version, whatever another node was given: a new copy, where it is of another type.
  void CastFrom(uint32_t version, uint32_t block, uint8_t type, Position at, const Operand& operand);
  // The same as Cast of all that is in the block, of which operands are parts.
  void CastWhole(uint32_t block, uint8_t type, Position at, uint32_t op);
  // Into so many bytes, as what is filled up.
  void CopyInto(uint64_t bytes, uint32_t block, uint8_t type, Position at, uint32_t op);
  // The copy of a weight that autocast keeps until it is left, before backward; the first use makes it.
  void UseCached(uint32_t block, uint8_t type, Position at, uint32_t op, const Operand& operand);
  // A parameter's gradient, or its part of one that several share, is converted and handed over.
  void CastGradient(uint32_t block, uint8_t type, Position at, const Operand& operand);
  // The same where it has been converted on the way: by the node of an operator that converted a view of the
  // parameter, as x @ weight.T does.
  void HandOver(uint32_t block);
  // A node converts it, so that nothing sees it any more: who wants its type is given a new copy of the copy.
  void CastByNode(uint32_t block, uint8_t type, Position at, const Operand& operand);
  // Gradients of a copy that the program made have been added to the first of them: a node converts that, and
  // adds it to the gradient of what was copied, or makes `sum` of both. `given`: the version that it is added
  // to, which goes then; kNone: something else holds it.
  void CastSum(const Operand& first, uint8_t type, Position at, uint32_t sum, uint32_t given = model::kNone);
  // Before the node that begins at `before` two others converted a gradient: to this type, at `there`, and
  // back. Between them those of weights are converted.
  void ThereAndBack(uint32_t block, uint8_t type, Position there, Position before, const Operand& operand);
  // The block was written to, as the version that is current: other copies that were made before `at`, and
  // itself where that was a copy, are not it any more.
  void Written(uint32_t block, Position at) {
    written_[block] = at;
    written_to_[block] = current_[block];
    stale_[block] = stale_[block] || current_[block] != itself_[block];
  }
  // When, in backward; kBefore: it was not.
  [[nodiscard]] Position WrittenAt(uint32_t block) const { return written_[block]; }
  // `result` is not computed: what `block` stands for now is changed in place.
  void Alias(uint32_t result, uint32_t block);
  // `result`, a temporary copy of what `block` stands for now, is not made.
  void LeaveOut(uint32_t result, uint32_t block);

  // The step with these versions; `saved_version` is what each reference of autograd is to.
  [[nodiscard]] Step Finish(const std::vector<uint32_t>& saved_version) &&;

 private:
  // From when to when autocast keeps what it converts then.
  [[nodiscard]] Window CacheAt(Position at) const;
  // Copies that autocast keeps of one weight end with the part of forward that they are made in.
  struct Cached {
    uint32_t version;
    Position left;
  };

  // Whether it is in a backward pass, or behind one and before the next part of forward.
  [[nodiscard]] bool InBackward(Position at) const;
  void UsedInForward(uint32_t version, Position at);
  uint32_t Add(uint32_t block, uint8_t type, Position at, uint32_t op, uint64_t bytes);
  uint32_t Add(uint32_t block, uint8_t type, Position at, uint32_t op, const Operand& operand);
  void NarrowDoubles();
  [[nodiscard]] double ShareOf(uint32_t copy, double share) const;
  void SwapNames(uint32_t a, uint32_t b);
  // Which version a variable that has the block in the record holds at that moment.
  [[nodiscard]] uint32_t HeldAt(uint32_t block, Position at) const;
  [[nodiscard]] bool Covers(uint32_t version, const Operand& seen) const;
  // Whether it was written to, in that part.
  [[nodiscard]] bool IsWritten(uint32_t block, const Operand* seen) const;
  [[nodiscard]] bool ReturnedBetween(Position made, Position from, Position until) const;
  void Deal(uint32_t block, const std::vector<uint32_t>& versions, const std::vector<Position>& held);

  const Step& step_;
  Step changed_;
  const bool all_low_;                 // what was there before the step has been converted
  size_t recorded_;                    // blocks of the recorded step
  const std::vector<Window> forward_;  // its parts
  std::vector<Position> left_;         // by part of forward: autocast is left
  std::vector<uint32_t> current_;      // by recorded block
  std::vector<uint32_t>
      itself_;                  // by recorded block: what it is without a copy: what is added to in its place
  std::vector<uint8_t> types_;  // by version: a recorded block or a copy; 0 = not decided
  struct Given {
    Position used = kBefore, until = kBefore;
  };
  std::vector<uint32_t> widened_;  // by version: an operator
  std::vector<Given> given_;       // by version, for the last node
  std::vector<Position> used_;
  std::vector<Position> held_;        // by version: until when variables hold it, as far as that shows
  std::vector<Position> named_;       // and those of functions whose source was told
  std::vector<Position> longest_;     // by block: until when they may hold it itself
  std::vector<Position> seen_;        // and any variable
  std::vector<Position> written_;     // by recorded block: the last time in backward
  std::vector<uint32_t> written_to_;  // as that version
  std::vector<uint32_t> cached_;      // by recorded block: autocast's copy, of the last part
  std::vector<Cached> all_cached_;
  std::vector<std::vector<uint32_t>> copies_;  // by recorded block
  std::vector<bool> unseen_;                   // by block of the record: a node converted it
  std::vector<bool> stale_;                    // by block of the record: a copy of it was written to
  std::vector<uint32_t> returned_;  // by recorded block: the version that was handed out in its place
  std::vector<bool> settled_;       // by version: its end is said
  std::vector<std::pair<uint32_t, uint32_t>> left_out_;  // blocks, and the copies that they are instead
  // Of versions that backward made of the block itself: of which part, in bytes of the block as it is
  // recorded.
  struct Part {
    uint64_t first = 0, end = UINT64_MAX;
  };
  [[nodiscard]] Part PartOf(const Operand& operand) const;
  std::map<uint32_t, Part> parts_;           // by version: no others than of a part
  std::map<uint32_t, uint32_t> stands_for_;  // by version: the sum of gradients that it became last
};

}  // namespace vramscope::whatif
