// SPDX-License-Identifier: Apache-2.0
// What a program makes of the samples of a batch one by one, and what it puts together of that again.
//
//   values [8, 128] ─ unbind ─┬─ [128] of the first ── min ─ [] ─┬─ stack ─ [8], of the batch
//                             ├─ [128] of the second ─ min ─ [] ─┤
//                             └─ ...                             ┘
//   torch.zeros(160) for each of them ─ stack ─ [8, 160], of the batch
//
// Why: none of the parts has the batch, so no dimension of an operand says where it is in what is joined; and
// of more samples there are more parts. So it is with the tokens of a sequence that a state goes through.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/step/number_tables.h"

namespace vramscope::whatif {

// The sample whose row is all that the operand shows of a block that has the batch; `stride` is
// BatchAxis::StrideIn() of it and not 0. kNoSample: it shows several, or which does not show.
[[nodiscard]] int64_t OnlySampleIn(const Step& step, const BatchAxis& axis, const Operand& operand,
                                   uint64_t stride);

// Whether each operand of it that has the batch shows one sample alone: what it works in does not grow.
[[nodiscard]] bool IsGivenOneSample(const Step& step, const BatchAxis& axis, const Op& op);

class SampleParts {
 public:
  // `axis` and `tables` as far as they are known: operators are noted in their order. `tokens`: those of a
  // sequence are the samples.
  SampleParts(const Step& step, const BatchAxis& axis, const NumberTables& tables, bool tokens)
      : step_(step),
        axis_(axis),
        tables_(tables),
        tokens_(tokens),
        sample_(step.blocks.size(), kNoSample),
        of_each_(step.blocks.size(), kNoSample),
        mixed_(step.blocks.size(), false) {}

  // A new result in which the batch is not.
  void Note(const Op& op, uint32_t block);
  // An operator writes into a block that was there: rows of a sample into a buffer that is zero elsewhere.
  void NoteWritten(const Op& op, uint32_t block);
  // Elements from one sample to the next in what cat() makes of a part of each sample, on average where they
  // are not alike; 0: it does not.
  [[nodiscard]] uint64_t Joined(const Op& op, const Operand& result);
  // Rows of what it makes of parts that are not alike.
  [[nodiscard]] const std::set<int64_t>& uneven() const { return uneven_; }
  // The same of pad_sequence([first, second, ...]), which makes a row of each one, or a column
  // (batch_first=False): of as many as there are samples, a sample each.
  [[nodiscard]] uint64_t Padded(const Op& op, const Operand& result) const;
  // By block: which sample it is the part of, where several samples have one and all are there at once;
  // or kNoSample.
  [[nodiscard]] std::vector<int64_t> Settle() const;

 private:
  // The only sample that the operator is given something of. Nothing: several are, or the batch as a whole.
  [[nodiscard]] std::optional<int64_t> SampleGiven(const Op& op) const;
  // The only sample that is in the operand.
  [[nodiscard]] int64_t SampleIn(const Operand& operand) const;
  [[nodiscard]] uint64_t JoinedUnevenly(std::span<const Operand> parts, const Operand& result);
  [[nodiscard]] bool AreOfSamples(std::span<const Operand> parts) const;
  [[nodiscard]] bool AreMadeForSamples(std::span<const Operand> parts) const;

  const Step& step_;
  const BatchAxis& axis_;
  const NumberTables& tables_;
  const bool tokens_;
  std::vector<int64_t> sample_;   // by block: which one it was made of
  std::vector<int64_t> of_each_;  // by block of numbers: which one it was made for
  std::vector<bool> mixed_;       // by block: several samples were written into it
  std::set<int64_t> uneven_;
  bool apart_ = false;  // the samples were taken apart
};

}  // namespace vramscope::whatif
