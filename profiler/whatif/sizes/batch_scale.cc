// SPDX-License-Identifier: Apache-2.0
// Other sizes for the blocks that the batch reaches.
#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "profiler/whatif/attention/attention.h"
#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/sizes/fixed_pieces.h"
#include "profiler/whatif/sizes/single_sample.h"
#include "profiler/whatif/sizes/tokens.h"
#include "profiler/whatif/step/radix_sort.h"

namespace vramscope::whatif {
namespace {

// Of what the operator works on; where a lever wrote the step in 16 bits, operands still have the recorded
// type.
uint32_t ElementIn(const Step& step, const Op& op, const Operand& operand) {
  const uint32_t recorded = BytesOf(operand.dtype);
  for (const Operand& result : OutputsOf(step, op)) {
    const uint64_t size = result.block == model::kNone ? 0 : step.blocks[result.block].requested;
    if (size == 0 || result.dtype != operand.dtype) continue;  // 0: dropped with frozen layers
    return 2 * size <= ElementsIn(step, result) * recorded ? recorded / 2 : recorded;
  }
  return recorded;
}

// Of a copy that cuDNN computes on, in another layout and with channels in groups of 16 bytes: of the first
// dimensions, `grouped` says which are.
uint64_t CopyOf(const Step& step, const Op& op, const Operand& operand, bool first_is_grouped) {
  constexpr int64_t kGroupBytes = 16;
  const int64_t bytes = ElementIn(step, op, operand);
  if (bytes == 0 || step.Rank(operand.shape) < 3) return 0;
  const int64_t group = kGroupBytes / bytes;
  int64_t size = bytes;
  for (uint32_t d = 0; d < step.Rank(operand.shape); ++d) {
    const int64_t elements = step.Dims(operand.shape)[d];
    const bool grouped = d == 1 || (d == 0 && first_is_grouped);
    size *= grouped ? (elements + group - 1) / group * group : elements;
  }
  return static_cast<uint64_t>(size);
}

// Whether it is what backward of a convolution works in for the gradient of the weight: that is made behind
// the other, and both of what it is computed from are copied, `samples` bytes, but no weight.
bool IsForWeight(const Step& step, const Op& op, uint32_t block, uint64_t samples) {
  constexpr uint16_t kOfWeight = 1;
  if (samples != step.blocks[block].requested) return false;
  return std::ranges::any_of(OutputsOf(step, op), [&](const Operand& result) {
    return result.argument == kOfWeight && result.block != model::kNone &&
           step.blocks[result.block].begin < step.blocks[block].begin;
  });
}

// Copies of what a convolution works on: that of the weight has its size with any batch. 0 for other blocks.
uint64_t WeightCopyIn(const Step& step, uint32_t block) {
  if (step.blocks[block].op == model::kNone) return 0;
  const Op& op = step.ops[step.blocks[block].op];  // itself: what it calls makes tensors
  const std::string_view name = step.NameOf(op);
  const bool forward = name == "aten::cudnn_convolution" || name == "aten::cudnn_convolution_transpose";
  const uint16_t weight = forward ? 1 : name == "aten::convolution_backward" ? 2 : 0;
  if (weight == 0) return 0;
  for (uint32_t i = 0; i < op.output_count; ++i) {
    if (step.operands[op.first_output + i].block == block) return 0;
  }
  uint64_t same = 0, samples = 0;
  for (const Operand& operand : InputsOf(step, op)) {
    if (operand.argument == weight) same = std::max(same, CopyOf(step, op, operand, true));
    if (operand.argument < weight) samples += CopyOf(step, op, operand, false);
  }
  const bool has = same < step.blocks[block].requested && !IsForWeight(step, op, block, samples);
  return has ? same : 0;
}

uint64_t SameWithAnyBatch(const Step& step, uint32_t block) {
  const uint64_t copied = WeightCopyIn(step, block);
  return copied != 0 ? copied : MatricesInWorkspace(step, block);
}

// What values of all samples are sorted in, with more or fewer of them. nullopt for other blocks.
std::optional<uint64_t> SortWithBatch(const Step& step, const BatchAxis& axis, uint32_t block,
                                      int64_t wanted) {
  if (step.blocks[block].op == model::kNone) return std::nullopt;
  const Op& op = step.ops[step.blocks[block].op];
  if (step.NameOf(op) != "aten::sort" || op.output_count == 0) return std::nullopt;
  const Operand& sorted = OutputsOf(step, op)[0];
  if (sorted.block == model::kNone || axis.stride[sorted.block] == 0) return std::nullopt;
  const uint64_t items = ElementsIn(step, sorted), recorded = step.blocks[block].requested;
  const uint64_t other = items / static_cast<uint64_t>(axis.batch) * static_cast<uint64_t>(wanted);
  if (recorded == OneSweepSortBytes(items)) return OneSweepSortBytes(other);
  if (recorded == ManySweepSortBytes(items, axis.device.count))
    return ManySweepSortBytes(other, axis.device.count);
  return std::nullopt;
}

// So many samples more or less stand for one of the recorded ones, each with a block of its own. Of fewer the
// last ones stay: backward goes through these first, before it has made gradients.
void ScaleParts(int64_t sample, int64_t recorded, int64_t wanted, Block& block) {
  constexpr uint64_t kUnit = 512;  // of the allocator
  const auto parts = static_cast<uint32_t>((wanted + sample) / recorded);
  if (parts > 1) {
    block.bytes = (block.bytes + kUnit - 1) / kUnit * kUnit;
    block.pieces *= parts;
  }
  block.bytes *= parts;
}

// x.unfold(1, 30, 1) of 32 tokens is [batch, 3, features, 30] with one token from each window to the next, as
// from each to the next within one (at::unfold in ATen/native/TensorShape.cpp): there are as many of both
// together as tokens, and one more, so that a few of one are as few for any length of the other. Of which
// neither is few both may follow the axis, as relative positions do.
bool AreFewWindows(const Step& step, const Operand& operand, uint32_t d) {
  for (uint32_t other = 0; other < step.Rank(operand.shape); ++other)
    if (other != d && step.Dims(operand.strides)[other] == step.Dims(operand.strides)[d] &&
        step.Dims(operand.shape)[other] > step.Dims(operand.shape)[d] + kMoved)
      return true;
  return false;
}

}  // namespace

void AddScratch(const Op& op, Position before_end, uint64_t bytes, Scene& scene, Position life) {
  Block block;
  block.begin = op.end - before_end;
  block.end = block.begin + life;
  block.bytes = bytes;
  block.category = op.node == model::kNone ? classify::Category::kTemporaryForward
                                           : classify::Category::kTemporaryBackward;
  scene.blocks.push_back(block);
}

// A copy of each, beside what one step of the sequence computes: the sizes that were published fit no other
// way (pytorch/pytorch, issue 2895).
uint64_t MatricesInWorkspace(const Step& step, uint32_t block) {
  constexpr uint16_t kWeights = 1;
  constexpr uint8_t kBytes = 0;  // c10::ScalarType::Byte
  if (step.blocks[block].op == model::kNone) return 0;
  const Op& made = step.ops[step.blocks[block].op];
  if (made.parent == model::kNone || step.NameOf(made) != "aten::empty") return 0;
  const Op& network = step.ops[made.parent];
  const std::string_view name = step.NameOf(network);
  if (name != "aten::_cudnn_rnn" && name != "aten::_cudnn_rnn_backward") return 0;
  const auto of_block = [&](const Operand& one) { return one.block == block; };
  const auto results = OutputsOf(step, network);
  const auto empty = OutputsOf(step, made);
  const auto is_bytes = [&](const Operand& one) { return of_block(one) && one.dtype == kBytes; };
  if (std::any_of(results.begin(), results.end(), of_block) ||
      std::none_of(empty.begin(), empty.end(), is_bytes))
    return 0;
  uint64_t bytes = 0;
  for (const Operand& weight : InputsOf(step, network)) {
    if (weight.argument != kWeights || step.Rank(weight.shape) != 2) continue;
    const int64_t* const dims = step.Dims(weight.shape);
    bytes += static_cast<uint64_t>(dims[0] * dims[1]) * ElementIn(step, network, weight);
  }
  return bytes < step.blocks[block].requested ? bytes : 0;
}

uint64_t BatchAxis::StrideIn(const Operand& operand, uint64_t block_stride) const {
  const uint64_t counted = operand.block < element.size() ? element[operand.block] : 0;
  const uint64_t seen = BytesOf(operand.dtype);
  return counted == 0 || seen == 0 || counted == seen ? block_stride : block_stride * counted / seen;
}

uint64_t ElementsWithin(const Step& step, uint64_t axis, const Operand& operand, uint32_t d) {
  if (axis == 0 || !step.shapes[operand.strides].known) return 0;
  const auto size = static_cast<uint64_t>(step.Dims(operand.shape)[d]);
  const auto stride = static_cast<uint64_t>(step.Dims(operand.strides)[d]);
  if (size <= 1 || stride == 0 || stride > axis || axis % stride != 0 || axis >= stride * size) return 0;
  if (stride == axis && AreFewWindows(step, operand, d)) return 0;
  return axis / stride;
}

uint64_t ElementsOfSample(const Step& step, const BatchAxis& axis, const Operand& operand, uint32_t d) {
  if (operand.block == model::kNone) return 0;
  return ElementsWithin(step, axis.StrideIn(operand, axis.stride[operand.block]), operand, d);
}

void ScaleBatch(const Step& step, const BatchAxis& axis, int64_t wanted, Scene& scene) {
  constexpr Position kPartialSums = 0.5, kCounters = 0.4;  // before the end of their operator
  constexpr Position kLifeOfCounters = 0.1;
  const auto from = static_cast<uint64_t>(axis.batch);
  const auto to = static_cast<uint64_t>(wanted);
  std::unordered_map<uint32_t, uint64_t> scratch;
  for (const BatchReduction& one : axis.reductions) {
    const auto [bytes, counters] = ScratchOf(WithBatch(one.reduction, wanted), axis.device);
    if (one.block != model::kNone && bytes == 0 && one.counters != model::kNone) scratch[one.counters] = 0;
    if (one.block != model::kNone) {
      scratch[one.block] = bytes;
    } else if (bytes != 0) {
      AddScratch(step.ops[one.op], kPartialSums, bytes, scene);
      AddScratch(step.ops[one.op], kCounters, counters, scene, kLifeOfCounters);
    }
  }
  const FixedPieces& pieces = FixedPiecesOf(step);
  const bool single = to == 1 && from > 1;
  if (single) AddScans(step, axis, scene);
  for (Block& block : scene.blocks) {
    if (block.origin == model::kNone) continue;
    if (pieces.Has(block.origin)) {
      block.bytes = pieces.BytesOf(block.bytes, wanted);
    } else if (const auto found = scratch.find(block.origin); found != scratch.end()) {
      block.bytes = found->second;
    } else if (const auto work = WorkspaceWithBatch(step, block.origin, axis.batch, wanted)) {
      block.bytes = *work;
    } else if (const auto sort = SortWithBatch(step, axis, block.origin, wanted)) {
      block.bytes = *sort;
    } else if (const int64_t sample = axis.SampleOf(block.origin); sample != kNoSample) {
      ScaleParts(sample, axis.batch, wanted, block);
    } else if (block.for_each_sample) {
      block.bytes = block.bytes / from * to;
    } else if (axis.stride[block.origin] != 0) {
      // Whole samples, and what is beyond them (an allocator's slack where the request is not known) stays.
      const uint64_t same = SameWithAnyBatch(step, block.origin);
      const uint64_t grows = block.bytes - std::min(same, block.bytes);
      const auto beside = static_cast<uint64_t>(axis.BesideIn(block.origin));
      const bool rows = beside != 0 && grows % (from + beside) == 0;
      block.bytes = block.bytes - grows +
                    (rows ? grows / (from + beside) * (to + beside) : grows / from * to + grows % from);
      if (axis.second[block.origin] != 0) block.bytes = block.bytes / from * to;
    }
  }
  if (single) LeaveOutCopiesForSamples(step, axis, scene);
}

}  // namespace vramscope::whatif
