// SPDX-License-Identifier: Apache-2.0
// Where a dimension that holds the batch, or the tokens, is behind one operator.
//
//   x [64, 128, 256] ─ sum over 1 ─ [64, 256]           moves up behind what is summed up
//   x [64, 256] ─ cat with another ─ [72, 256]          may have become longer
//   table [1000, 32], index [64, 128] ─ gather ─ [64, 128]   is the index's, whatever the table has
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/sizes/batch_kinds.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Of an operand: the dimension that holds the axis, and how many elements of one step along it are in there.
struct AxisPlace {
  uint32_t dimension = 0;
  uint64_t inner = 0;
};

// The dimension of the operand that holds the axis, which has `stride` elements from one step to the next in
// its block.
[[nodiscard]] std::optional<AxisPlace> PlaceIn(const Step& step, const BatchAxis& axis,
                                               const Operand& operand, uint64_t stride);

// Elements from one step along an axis to the next in a block, where it is in there once or twice: scores of
// samples against samples, or tokens. 0: it is not.
using PlacesOfAxis = std::array<uint64_t, 2>;

// One more, unless it is known or there are two already.
void AddPlace(PlacesOfAxis& places, uint64_t stride);

// Elements of `result`, of `op`, from one step along the axis to the next; 0 when the axis is not there.
[[nodiscard]] uint64_t CarryAxis(const Step& step, const Op& op, Kind kind, const Operand& operand,
                                 AxisPlace place, const Operand& result);

// x[:, None] - x[None] compares samples with each other: adds to the place that `first` has in the result
// those of operands that are broadcast along it, or that it is broadcast along, but for blocks of `left_out`.
void AddCompared(const Step& step, const BatchAxis& axis, const Op& op, const Operand& result,
                 const Operand& first, const std::vector<bool>& left_out, PlacesOfAxis& places);

// The same of what has the rows of one operand and, across, those of another: distances of all to all, or
// x[:, kinds] of kinds that each sample has some of.
void AddAcross(const Step& step, const BatchAxis& axis, const Op& op, const Operand& result,
               const std::vector<bool>& left_out, PlacesOfAxis& places);

// Of what an inner operator laid out as what is the same for all samples, as log_sigmoid_backward does with
// the gradient of a sum: the places of an operand of `op` that compares samples and lies like the result.
// Zeros where there is none.
[[nodiscard]] PlacesOfAxis PlacesOfCompared(const Step& step, const BatchAxis& axis, const Op& op,
                                            const Operand& result);

// Of a product of matrices: rows of the first, columns of the second, and what counts the matrices.
[[nodiscard]] PlacesOfAxis CarryThroughProduct(const Step& step, const BatchAxis& axis, const Op& op,
                                               const Operand& result);

// Of what backward puts the gradient of a part into, as that of max(dim): that of x[:, 0] has no tokens, that
// of x has. And of what it spreads the gradient of a mean over, which no operand shows.
[[nodiscard]] PlacesOfAxis PlacesOfWhole(const Step& step, const BatchAxis& axis, const Op& op,
                                         const Operand& result);

// The operator whose operands have the dimensions of its result: backward of x.max(dim) puts one back,
// within.
[[nodiscard]] const Op& AlignedIn(const Step& step, const Op& op);

// Backward of as_strided() adds up in memory of one dimension, laid out as what was viewed, and numbers its
// elements (as_strided_backward, torch/csrc/autograd/FunctionsManual.cpp): the block that was viewed, of a
// result of a factory that is so; or kNone.
[[nodiscard]] uint32_t LaidOutAs(const Step& step, const Op& op, const Operand& result);

// The two stacks of a batched product are of as many matrices: one that only its size says has the batch
// there has it by chance where that of the other one lies elsewhere. The block of the first; `sized`, by
// block: only a size says it. kNone: neither.
[[nodiscard]] uint32_t SizedByChance(const Step& step, const BatchAxis& axis, const Op& op,
                                     const std::vector<bool>& sized);

// Of memory that is taken again for a tensor of other sizes, as col2im takes what it made for columns:
// elements from one sample to the next; 0: `op` is no such operator, or the samples are not the first
// dimension.
[[nodiscard]] uint64_t PlaceInResized(const Step& step, const BatchAxis& axis, const Op& op);

// [layers, batch, features] in any layout of the sequences: what a recurrent network begins and ends with, in
// the places 1 and 2 of its results, as far as the axis is not known to be there. What it begins with is
// zeros that nobody computed.
[[nodiscard]] std::vector<const Operand*> RecurrentStates(const Step& step, const BatchAxis& axis,
                                                          const Op& op);

// Of a batch norm's statistics, one of each channel: instance norm puts the samples among the channels,
// [samples, channels, height, width] as [1, samples x channels, height, width].
[[nodiscard]] PlacesOfAxis PlacesOfStatistics(const Step& step, const BatchAxis& axis, const Op& op,
                                              const Operand& result);

// The operands in the order in which they are asked where the axis is in the result. Of what is joined that
// is the largest first: windows of samples [8 * 16, 9, 64] are samples by windows, and one token of each
// sample that repeat() makes [16 * 8, 1, 64] of is windows by samples, which no view takes apart again.
[[nodiscard]] std::vector<Operand> MostTellingFirst(const Step& step, const Op& op, Kind kind);

// Of what the CPU has computed nothing is known: nothing speaks against the size of a copy of it.
[[nodiscard]] bool CopiesFromCpu(const Step& step, const Op& op, const Operand& result);

// An attention's mask: its last dimension is of keys; that of what attention returns, and of gradients but
// for the mask's own, is the width of a head.
inline constexpr uint16_t kGradientOfMask = 3;  // a result
[[nodiscard]] bool IsMaskOfAttention(const Step& step, const Op& op, const Operand& operand);

// Where samples lie behind one another in one sequence, as patches of all images: what is added to its scores
// has a row for each query and a column for each key, whatever made it, as full((patches, patches)) did
// (attn_mask of scaled_dot_product_attention). `operand`: nullptr where it is no such mask, or known already.
struct MaskOfRows {
  const Operand* operand = nullptr;
  PlacesOfAxis places{};
};
[[nodiscard]] MaskOfRows FindMaskOfRows(const Step& step, const BatchAxis& axis, const Op& op);

// Whether an attention's result has rows of another operand than this one, however many that has: what it
// returns has those of the query, and each gradient those of what it is of. Sums of rows have their rows
// last, where the others have the width of a head.
[[nodiscard]] bool IsOfOtherRows(const Step& step, const Op& op, const Operand& operand,
                                 const Operand& result);

// keys @ state, of keys [batch, heads, tokens, features] and a second factor whose rows seem to be tokens,
// torch.zeros(batch, heads, 32, 32): these are features.
[[nodiscard]] bool MultipliesFeatures(const Step& step, const BatchAxis& axis, const Op& op);

// Backward of a lookup sorts many indices, beside a number for each of them (embedding_dense_backward_cuda in
// ATen/native/cuda/Embedding.cu): the block of the indices, where `block` is as long, or what CUB works in.
// kNone: it is neither. The rows that it adds up in, of ten indices each, are not followed.
[[nodiscard]] uint32_t SortedWith(const Step& step, const Op& op, uint32_t block);

// Without those that are in `others`.
[[nodiscard]] PlacesOfAxis Without(PlacesOfAxis places, PlacesOfAxis others);

// Whether the dimensions of all operands are the result's, aligned at the right, or have one element.
[[nodiscard]] bool AreBroadcast(const Step& step, const Op& op, const Operand& result);

// The operand that the operator's result has its shape of, whatever the others have; nullptr: there is none.
[[nodiscard]] const Operand* ShapedLike(const Step& step, const Op& op);

}  // namespace vramscope::whatif
