// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/sample_turns.h"

#include <algorithm>
#include <string>
#include <vector>

#include "profiler/whatif/sizes/counted_places.h"
#include "profiler/whatif/sizes/fixed_pieces.h"
#include "profiler/whatif/sizes/kept_samples.h"
#include "profiler/whatif/sizes/sample_parts.h"
#include "profiler/whatif/sizes/uneven_samples.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr int64_t kSeveral = -2;

int64_t Together(int64_t one, int64_t other) {
  if (one == kNoSample || one == other) return other;
  return other == kNoSample ? one : kSeveral;
}

class Turns {
 public:
  Turns(const Step& step, const BatchAxis& axis)
      : step_(step), axis_(axis), sample_(step.blocks.size(), kNoSample) {
    for (const uint32_t end : step.op_ends)
      if (step.ops[end].node == kNone) Note(step.ops[end]);
  }

  // Whether what autograd keeps of one sample alone, of each of them as well, is more than a little of what
  // it keeps of samples. Not what is followed as a part that each sample has, nor what a turn drops: that is
  // not there more often.
  [[nodiscard]] bool AreKept() const {
    constexpr uint64_t kLittle = 8;  // an eighth
    std::vector<bool> counted(step_.blocks.size(), false);
    std::vector<uint64_t> of_one(static_cast<size_t>(axis_.batch), 0);
    uint64_t of_all = 0;
    for (const Saved& saved : step_.saved) {
      const uint32_t block = saved.block;
      if (block == kNone || counted[block]) continue;
      counted[block] = true;
      if (axis_.stride[block] != 0 || axis_.SampleOf(block) != kNoSample)
        of_all += step_.blocks[block].requested;
      else if (sample_[block] >= 0)
        of_one[static_cast<size_t>(sample_[block])] += step_.blocks[block].requested;
    }
    return std::ranges::min(of_one) * of_one.size() > of_all / kLittle;
  }

 private:
  // In place too: a buffer that a sample's tokens are put in is of that sample.
  void Note(const Op& op) {
    int64_t of_inputs = kNoSample;
    for (const Operand& input : InputsOf(step_, op)) of_inputs = Together(of_inputs, SampleIn(input));
    for (const Operand& result : OutputsOf(step_, op))
      if (result.block != kNone && axis_.stride[result.block] == 0 &&
          step_.blocks[result.block].begin > kBefore)
        sample_[result.block] = Together(sample_[result.block], of_inputs);
  }

  [[nodiscard]] int64_t SampleIn(const Operand& operand) const {
    if (operand.block == kNone) return kNoSample;
    const uint64_t stride = axis_.StrideIn(operand, axis_.stride[operand.block]);
    if (stride == 0) return sample_[operand.block];
    const int64_t only = OnlySampleIn(step_, axis_, operand, stride);
    return only == kNoSample ? kSeveral : only;
  }

  const Step& step_;
  const BatchAxis& axis_;
  std::vector<int64_t> sample_;  // by block in which the batch is not: of which one it was made
};

}  // namespace

namespace {

Result<const BatchAxis*> Scaled(const Step& step) {
  const Result<BatchAxis>& axis = FollowBatch(step);
  if (!axis.ok()) return axis.error();
  if (const FixedPieces& pieces = FixedPiecesOf(step); pieces.AreKept(step))
    return Error{"the program puts the samples of a batch through a part of its model in pieces of " +
                 std::to_string(pieces.rows) +
                 " rows: with another batch there are more or fewer of them, and none is larger."};
  if (const std::string why = WhyKeptForSamples(step, *axis); !why.empty()) return Error{why};
  if (const std::string why = WhyUneven(step, *axis); !why.empty()) return Error{why};
  if (const std::string why = WhyRoomUnknown(step, *axis); !why.empty()) return Error{why};
  if (Turns(step, *axis).AreKept())
    return Error{"the program puts the " + std::to_string(axis->batch) +
                 " samples of a batch through its model one by one: with another batch that is done more or "
                 "less often, and no tensor is larger."};
  return &*axis;
}

}  // namespace

Result<const BatchAxis*> BatchToScale(const Step& step) {
  return step.batch_to_scale.Get([&] { return Scaled(step); });
}

}  // namespace vramscope::whatif
