// SPDX-License-Identifier: Apache-2.0
// Which blocks of a step grow with the batch: followed through every operator from the step's inputs.
//
// Why not by shape: a weight gradient of 512 x 512 looks like an activation of 512 tokens, and a batch may be
// the second dimension. So each block that the batch reaches has the batch's place in its memory, and
// operands are asked through their strides:
//
//   input  [64, 128]        stride of the batch 128
//   view   [8192]           that one dimension holds the batch, with 128 elements of each sample
//   embed  [64, 128, 256]   first dimension again: stride 32,768
//   mm     [256, 8192] x [8192, 256] -> [256, 256]      the batch is summed away: a weight gradient
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "profiler/whatif/scene/scene.h"
#include "profiler/whatif/step/reduction.h"

namespace vramscope::whatif {

inline constexpr int64_t kNoSample = -1;

// A reduction that the batch goes into, and the partial sums that it was seen to take.
struct BatchReduction {
  uint32_t op = 0;
  uint32_t block = model::kNone;  // kNone: it took none
  Reduction reduction;
  uint32_t counters = model::kNone;  // beside them: of thread blocks that are through
};

struct BatchAxis {
  int64_t batch = 0;  // samples in a batch
  std::vector<uint64_t>
      stride;  // by block of the step: elements from one sample to the next; 0 = does not grow
  // Where it is in a block twice, as a sequence in attention's scores, and the batch where samples are
  // compared with each other: elements in the second direction.
  std::vector<uint64_t> second;
  // By block: bytes of the elements that both are counted in; 0: as large as those of any operand.
  std::vector<uint8_t> element;
  // By block: so many tokens that are no part of the sequence stand beside its own in the same dimension, or
  // rows that are no sample's beside those of the batch.
  std::vector<int64_t> beside;
  // Of the batch, by block: the sample that it is a part of, where there is one for each.
  std::vector<int64_t> sample;
  // Rows of what the program joins of parts of samples that are not alike.
  std::set<int64_t> uneven;
  // By block: a dimension of that size is all that tells of it.
  std::vector<bool> sized;
  uint32_t internal =
      0;  // blocks that no operator handed out and whose operator the batch reaches: taken to grow
  std::vector<BatchReduction> reductions;
  Multiprocessors device;  // a device whose division of work explains the reductions
  std::vector<std::string> notes;

  // A stride of the operand's block in elements of the operand: complex numbers may be seen as real ones, and
  // real ones as complex ones.
  [[nodiscard]] uint64_t StrideIn(const Operand& operand, uint64_t block_stride) const;
  [[nodiscard]] int64_t BesideIn(uint32_t block) const { return block < beside.size() ? beside[block] : 0; }
  [[nodiscard]] bool IsSized(uint32_t block) const { return block < sized.size() && sized[block]; }
  [[nodiscard]] int64_t SampleOf(uint32_t block) const {
    return block < sample.size() ? sample[block] : kNoSample;
  }
};

// Fails with a sentence when the batch cannot be told from the step's inputs. O(operands) the first time; the
// answer is part of the step.
[[nodiscard]] const Result<BatchAxis>& FollowBatch(const Step& step);

// The same for the second dimension of token ids, or of [batch, tokens, features]; BatchAxis::batch is then
// its length. Features beside ids that are as many by chance are none of it. O(operands); not kept.
[[nodiscard]] Result<BatchAxis> FollowSequence(const Step& step);

struct AskedAxis;
struct Tokens;
// The sequence from its inputs and `asked` alone. `by_size`: what has a dimension as long as it and tells
// nothing else is taken for a part of it. `others`: where another sequence is, or nullptr: not this one.
[[nodiscard]] Result<BatchAxis> FollowTokens(const Step& step, const Tokens& tokens, bool by_size,
                                             const BatchAxis* others, std::span<const AskedAxis> asked = {});

// How many elements of the operand's dimension `d` lie `stride` apart or less, where `stride` is a place that
// an axis has in its block; 0 when that is not in this dimension.
[[nodiscard]] uint64_t ElementsWithin(const Step& step, uint64_t stride, const Operand& operand, uint32_t d);

// How many of its elements belong to one sample in dimension `d` of the operand; 0 when the batch is not in
// it.
[[nodiscard]] uint64_t ElementsOfSample(const Step& step, const BatchAxis& axis, const Operand& operand,
                                        uint32_t d);
// Which argument of an operator has the dimensions of a reduction: vector_norm(x, 2, dims) has the order
// before.
[[nodiscard]] uint64_t PlaceOfDims(std::string_view op);
// Which of so many dimensions a reduction is over, whose argument was written "[0, 2]" or "1"; all when there
// are none.
[[nodiscard]] std::vector<bool> ReducedOf(std::string_view text, uint32_t rank);
// Of which block `block`, a number that the operator returns, has the memory of as many elements: mse_loss()
// sums up where it computed. In 16 bits operands are still said to be in float32. kNone: it is no such
// number.
[[nodiscard]] uint32_t SummedFrom(const Step& step, const Op& op, uint32_t block);
// Fills BatchAxis::reductions and its device; part of FollowBatch.
void FindReductions(const Step& step, BatchAxis& axis);

// Bytes in the workspace of a recurrent network that have nothing to do with the batch: cuDNN's copies of the
// matrices. 0 for other blocks.
[[nodiscard]] uint64_t MatricesInWorkspace(const Step& step, uint32_t block);

// Memory that an operator takes and gives back, which the recorded one did not need: so many moments before
// its end.
void AddScratch(const Op& op, Position before_end, uint64_t bytes, Scene& scene, Position life = 0.25);

// Gives the blocks of `scene` the sizes that they have with `wanted` samples; partial sums may vanish or
// come.
void ScaleBatch(const Step& step, const BatchAxis& axis, int64_t wanted, Scene& scene);

}  // namespace vramscope::whatif
