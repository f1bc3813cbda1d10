// SPDX-License-Identifier: Apache-2.0
// Where more tokens than those of the sequence stand in one dimension, as words that are learned or regions
// of a picture that come before them: they are as many with sequences of another length.
//
//   prompt [64, 8, 256] ─┬─ cat ─ [64, 136, 256]     128 tokens, and 8 beside them
//   words [64, 128, 256] ┘
//
// So do rows beside those of the batch, which the program makes for all samples together: cat([t,
// t.new_zeros(1)]). So is the room that a convolution leaves at the sides, of up to a kernel. And where a
// program has several words of each token, one behind the other, so many there are of any other length.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>

#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/sizes/carried_axis.h"
#include "profiler/whatif/sizes/tokens.h"

namespace vramscope::whatif {

class JoinedTokens {
 public:
  // `axis`: the sequence, whose BatchAxis::beside is filled here. `others`: another one, or nullptr.
  // `tokens`: of which it is; nullptr: it is the batch.
  JoinedTokens(const Step& step, BatchAxis& axis, const BatchAxis* others, const Tokens* tokens)
      : step_(step), axis_(axis), others_(others), tokens_(tokens) {
    if (tokens != nullptr) FindLearned();
  }

  // Before each operator.
  void NoteGiven(const Op& op);
  // Behind it, when it is known where the tokens are in its result.
  void Note(const Op& op, const Operand& result);
  // Of what was joined these are the tokens beside those of the sequence alone.
  [[nodiscard]] bool AreOthers(const Operand& operand, AxisPlace place) const;
  // A dimension of that size told alone that the tokens are in a new tensor.
  void NoteSized(uint32_t block, int64_t size) {
    if (size == axis_.batch && IsOfModel(size)) of_model_.insert(block);
  }
  // What a factory made is the result of the operator around it, which says itself where the tokens are.
  void NoteAround(uint32_t block) { of_model_.erase(block); }
  // Why one length does not tell which tensors grow; empty: it does.
  [[nodiscard]] std::string WhyNotTold() const;
  // A dimension of that size holds the tokens and others that were joined with them before, or several words
  // of each.
  [[nodiscard]] bool IsLength(int64_t size) const;
  // A dimension of parameters.
  [[nodiscard]] bool IsOfModel(int64_t size) const;
  // mask[:, None, :].expand(-1, tokens, -1), which is the same for all queries: dimension `d` is of as many
  // as another one has tokens. Not where they were not joined: a head may be as wide as a sequence is long.
  [[nodiscard]] bool IsSpread(const Operand& operand, uint32_t d) const;
  // Elements from one token to the next in what is written out of something that was expanded to a token more
  // or less than the sequence has, as ids[:, :-1] has them: learned.expand(-1, tokens, -1). 0: nothing was.
  [[nodiscard]] uint64_t SpreadOverMoved(const Op& op, const Operand& result) const;
  // The same in what an index is written out from that was expanded to the others: x[rows[:, None],
  // tokens[None, :]], where rows and tokens become of one shape (expand_outplace() in
  // aten/src/ATen/ExpandUtils.h).
  [[nodiscard]] uint64_t SpreadOverIndices(const Op& op, const Operand& result) const;
  // So many words of each are in a dimension of that size.
  [[nodiscard]] uint64_t WithinOne(int64_t size) const;

 private:
  void FindLearned();
  [[nodiscard]] bool AreLearned(const Operand& operand) const;
  void NoteOthers(const Op& op, const Operand& result);
  [[nodiscard]] int64_t OthersIn(const Operand& operand) const;
  [[nodiscard]] bool IsMadeApart(const Operand& operand) const;
  [[nodiscard]] bool IsCounted(const Operand& operand, uint32_t d) const;
  [[nodiscard]] int64_t JoinedBy(const Op& op, const Operand& result);
  [[nodiscard]] int64_t TokensIn(std::span<const Operand> parts, uint32_t block, uint32_t d) const;
  [[nodiscard]] int64_t LeftBy(const Op& convolution, const Operand& result) const;
  [[nodiscard]] int64_t AboutAsMany(const Operand& operand, int64_t tokens) const;
  [[nodiscard]] bool HoldsRunsOf(const Operand& operand, int64_t tokens) const;

  const Step& step_;
  BatchAxis& axis_;
  const BatchAxis* const others_;
  const Tokens* const tokens_;
  std::set<int64_t> known_;              // tokens beside those of the sequence
  std::map<uint32_t, int64_t> apart_;    // by block: so many of them, without the sequence
  std::set<uint32_t> learned_;           // blocks that are made of parameters alone
  std::set<int64_t> counts_of_learned_;  // which are joined with the tokens somewhere
  std::set<int64_t> interleaved_;        // sizes that hold several words of each token
  std::set<int64_t> moved_;              // that hold all tokens but the last, or one more
  bool as_many_ = false;         // others as there are tokens: a part of what was joined may be either
  std::set<uint32_t> of_model_;  // blocks with a dimension that may be a size of the model
};

}  // namespace vramscope::whatif
