// SPDX-License-Identifier: Apache-2.0
// Dimensions that all samples share, which a program has as plain numbers: rows for their tokens or nodes.
//
//   x [8, 50, 64] ─ view ─ [400, 64], 50 rows of each sample
//   torch.zeros(400, 64): a recurrent cell's first state, or what experts' results are added up in
//   topk(100) of 400 tokens, those that an expert takes
//   masks[samples, queries] -> [32, 16, 16]: what is to be found, in pairs that the CPU has matched
//
// Why: nothing goes into a factory, and what is picked is fewer, so no operand's dimension tells.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>

#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/sizes/carried_axis.h"

namespace vramscope::whatif {

class SampleRows {
 public:
  // `axis` as far as it is known: operators are noted in their order.
  SampleRows(const Step& step, const BatchAxis& axis);

  void Note(const Op& op);
  // Where the samples are in what a factory made, with as many rows as all of them have.
  [[nodiscard]] PlacesOfAxis Made(const Op& op, const Operand& result) const;
  // Elements from one sample to the next in what is written out of something that was expanded to as many
  // rows, such as a mask for the queries and the documents that were joined; 0: it was not.
  [[nodiscard]] uint64_t Expanded(const Op& op, const Operand& result) const;
  // Elements from one sample to the next where a share of the rows is picked; 0: it is no share, which all
  // samples have the same of.
  [[nodiscard]] uint64_t Share(const Op& op, const Operand& rows, AxisPlace place,
                               const Operand& result) const;

 private:
  // Elements from one sample to the next in what an instance norm repeats of its weights; 0: it is no such.
  [[nodiscard]] uint64_t OfInstanceNorm(const Op& op, const Operand& result) const;
  // What is picked out of the samples by numbers that the CPU has, in pairs of a sample and a place in it.
  [[nodiscard]] uint64_t Indexed(const Op& op, const Operand& rows, AxisPlace place,
                                 const Operand& result) const;
  [[nodiscard]] uint64_t Picked(const Operand& rows, AxisPlace place, const Operand& result) const;

  const Step& step_;
  const BatchAxis& axis_;
  std::set<int64_t> sizes_of_model_;                 // dimensions of parameters and buffers
  std::unordered_map<int64_t, uint64_t> of_sample_;  // by rows of all samples: of one, side by side
  std::set<int64_t> indexed_;                        // numbers of what was picked by numbers of the CPU
};

}  // namespace vramscope::whatif
