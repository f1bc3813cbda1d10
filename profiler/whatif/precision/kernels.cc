// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/kernels.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "profiler/whatif/attention/attention.h"
#include "profiler/whatif/attention/flash_results.h"
#include "profiler/whatif/precision/linears.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/step/radix_sort.h"
#include "profiler/whatif/step/reduction.h"
#include "profiler/whatif/step/strides.h"
#include "profiler/whatif/step/up_to.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr uint64_t kFloatBytes = 4;
constexpr uint16_t kForwardBias = 3, kBackwardBias = 4;  // arguments: a mask that is added
constexpr uint8_t kByteType = 0;
constexpr uint64_t kNotSplit = uint64_t{1} << 20;  // what the allocator leaves in a block

// The first operand that is argument `place`.
const Operand* Argument(const Step& step, const Op& op, uint16_t place) {
  const std::span<const Operand> inputs = InputsOf(step, op);
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const Operand& operand) { return operand.argument == place; });
  return found == inputs.end() ? nullptr : &*found;
}

// Whether cuDNN is given a convolution's input as [batch, ..., channels]. One of three dimensions PyTorch
// lays out anew, channels first, before it adds the fourth (_convolution and convolution_backward in
// aten/src/ATen/native/Convolution.cpp).
bool LiesChannelsLast(const Step& step, const Operand& x) {
  const int64_t* const dims = step.Dims(x.shape);
  if (dims[1] == 1) return false;
  return step.Rank(x.shape) == 3 ? dims[2] == 1 : step.Dims(x.strides)[1] == 1;
}

// Bytes of a convolution's operand with dimensions that count channels filled up to whole vectors of 16
// bytes.
uint64_t Filled(const Step& step, const Operand& operand, uint32_t first, uint32_t last, uint64_t element) {
  constexpr uint64_t kVectorBytes = 16;
  uint64_t bytes = element;
  for (uint32_t d = 0; d < step.Rank(operand.shape); ++d) {
    const auto size = static_cast<uint64_t>(step.Dims(operand.shape)[d]);
    bytes *= first <= d && d <= last ? UpTo(size, kVectorBytes / element) : size;
  }
  return bytes;
}

// Whether a convolution with such a weight makes `x` of `y`: the weight counts the channels that go in first.
bool IsTransposed(const Step& step, const Operand& x, const Operand& w, const Operand& y) {
  if (step.Rank(x.shape) < 3 || step.Rank(w.shape) < 3 || step.Rank(y.shape) < 3) return false;
  const int64_t in = step.Dims(x.shape)[1], out = step.Dims(y.shape)[1];
  const int64_t* const weight = step.Dims(w.shape);
  return in != out && weight[0] == in && weight[1] == out;
}

class Kernels {
 public:
  Kernels(const Step& step, const std::vector<bool>& low, Step& changed)
      : step_(step), low_(low), changed_(changed) {
    born_.resize(step.ops.size());
    handed_.resize(step.blocks.size(), false);
    for (const Op& op : step.ops) {
      for (uint32_t i = 0; i < op.output_count; ++i) {
        const uint32_t block = step.operands[op.first_output + i].block;
        if (block != kNone && step.blocks[block].begin > op.begin && op.parent == kNone)
          handed_[block] = true;
        if (block != kNone && step.operands[op.first_output + i].dtype == kFloatType) handed_[block] = true;
      }
    }
    for (uint32_t i = 0; i < step.blocks.size(); ++i) {
      if (step.blocks[i].op != kNone) born_[step.blocks[i].op].push_back(i);
    }
  }

  void Change() {
    for (uint32_t i = 0; i < step_.ops.size(); ++i) {
      const std::string_view name = step_.NameOf(step_.ops[i]);
      if (name == kEfficientForward) FlashForward(i);
      if (name == kEfficientBackward) AttentionBackward(i);
      if (name == "aten::cudnn_convolution" || name == "aten::cudnn_convolution_transpose" ||
          name == "aten::convolution_backward" || name == "aten::_cudnn_rnn" ||
          name == "aten::_cudnn_rnn_backward")
        Halve(i);
      if (name == "aten::_slow_conv2d_forward" || name == "aten::slow_conv_dilated2d") HalveColumns(i);
      if (name == "aten::native_group_norm") GroupNorm(i);
      if (name == "aten::sort") Sort(i);
    }
  }

 private:
  [[nodiscard]] bool IsLow(const Op& op) const {
    for (uint32_t i = 0; i < op.output_count; ++i) {
      const uint32_t block = step_.operands[op.first_output + i].block;
      if (block != kNone && low_[block]) return true;
    }
    return false;
  }

  [[nodiscard]] bool IsResult(const Op& op, uint32_t block) const {
    for (uint32_t i = 0; i < op.output_count; ++i) {
      if (step_.operands[op.first_output + i].block == block) return true;
    }
    return false;
  }

  // Blocks that were made in a call of an operator.
  [[nodiscard]] std::vector<uint32_t> Inside(uint32_t index) const {
    std::vector<uint32_t> blocks;
    for (uint32_t i = index; i < step_.ops.size() && step_.ops[i].begin < step_.ops[index].end; ++i)
      blocks.insert(blocks.end(), born_[i].begin(), born_[i].end());
    return blocks;
  }

  // Work space and reserves of cuDNN are bytes; they hold elements of the type that it works on. The gradient
  // of a bias is a sum of PyTorch's, whose partial sums are floats in any type.
  void Halve(uint32_t index) {
    const Op& op = step_.ops[index];
    if (!IsLow(op)) return;
    for (const uint32_t block : Inside(index)) {
      if (step_.NameOf(step_.ops[step_.blocks[block].op]) == "aten::sum") continue;
      if (!handed_[block]) HalveBlock(block);
      if (!handed_[block]) ConvertChannels(op, block);
    }
    for (uint32_t i = 0; i < op.output_count; ++i) {
      const Operand& result = step_.operands[op.first_output + i];
      if (result.block != kNone && result.dtype == kByteType) HalveBlock(result.block);
    }
  }

  // Without cuDNN each kernel's part of the input is written out as a column, in the input's type
  // (aten/src/ATen/native/cuda/ConvolutionMM2d.cu, NaiveDilatedConvolution.cu).
  void HalveColumns(uint32_t index) {
    const Op& op = step_.ops[index];
    if (!IsLow(op)) return;
    for (const uint32_t block : Inside(index))
      if (!IsResult(op, block) && step_.blocks[block].category != Category::kWorkspace) HalveBlock(block);
  }

  // Of [batch, channels, ...] cuDNN makes [batch, ..., channels] for tensor cores, of all three operands of a
  // convolution. Forward in float32 converts what goes in alone (sizes that cuDNN 9 states for an A100). What
  // lies so already is converted in float32; in 16 bits it is filled up to whole vectors of channels. A
  // transposed convolution is the backward of one whose input it makes.
  void ConvertChannels(const Op& op, uint32_t block) {
    const bool forward = step_.NameOf(op) == "aten::cudnn_convolution";
    const bool transposed = step_.NameOf(op) == "aten::cudnn_convolution_transpose";
    const bool backward = step_.NameOf(op) == "aten::convolution_backward";
    if ((!forward && !transposed && !backward) || op.output_count == 0) return;
    const Operand* const w = Argument(step_, op, backward ? 2 : 1);
    const Operand* x = Argument(step_, op, backward ? 1 : 0);
    const Operand* y = backward ? Argument(step_, op, 0) : &OutputsOf(step_, op)[0];
    if (x == nullptr || w == nullptr || y == nullptr) return;
    const bool goes_forward = backward && IsTransposed(step_, *x, *w, *y);  // to its input's gradient
    if (transposed || goes_forward) std::swap(x, y);
    if (step_.Rank(x->shape) < 3 || step_.Rank(x->strides) < 3) return;
    const auto filled = [&](uint64_t element) -> std::array<uint64_t, 3> {
      return {Filled(step_, *x, 1, 1, element), Filled(step_, *w, 0, 1, element),
              Filled(step_, *y, 1, 1, element)};
    };
    const auto [wide_x, wide_w, wide_y] = filled(kFloatBytes);
    const auto [low_x, low_w, low_y] = filled(kFloatBytes / 2);
    const uint64_t recorded = step_.blocks[block].requested;
    const auto is = [recorded](uint64_t wide) { return recorded >= wide && recorded - wide <= kNotSplit; };
    uint64_t& requested = changed_.blocks[block].requested;
    if (!LiesChannelsLast(step_, *x)) {
      if (is(wide_x + wide_w + (forward ? 0 : wide_y)) || (goes_forward && is(wide_x + wide_w)))
        requested = low_x + low_w + low_y;
      return;
    }
    const bool fill_x = low_x != Filled(step_, *x, 1, 0, kFloatBytes / 2);
    const bool fill_y = low_y != Filled(step_, *y, 1, 0, kFloatBytes / 2);
    const bool of_weight = !forward && is(wide_x + wide_y);
    if (of_weight || is(wide_w + (forward ? wide_x : wide_y)))
      requested = (fill_x ? low_x + (of_weight ? 0 : low_w) : 0) + (fill_y ? low_y : 0);
  }

  void HalveBlock(uint32_t block) {
    if (!low_[block] && changed_.blocks[block].requested == step_.blocks[block].requested)
      changed_.blocks[block].requested = (step_.blocks[block].requested + 1) / 2;
  }

  // CUB sorts short keys in another way.
  void Sort(uint32_t index) {
    const Op& op = step_.ops[index];
    if (!IsLow(op)) return;
    const uint64_t items = ElementsIn(step_, OutputsOf(step_, op)[0]);
    for (const uint32_t block : born_[index])
      if (!IsResult(op, block) && step_.blocks[block].requested == OneSweepSortBytes(items))
        changed_.blocks[block].requested = ManySweepSortBytes(items, Multiprocessors{}.count);
  }

  // Means and deviations are computed in float32, beside those that are returned, where these are low
  // (GroupNormKernelImplInternal in aten/src/ATen/native/cuda/group_norm_kernel.cu, PyTorch 2.15).
  void GroupNorm(uint32_t index) {
    const Op& op = step_.ops[index];
    const std::span<const Operand> results = OutputsOf(step_, op);
    if (op.node != kNone || results.size() != 3) return;
    const uint32_t means = results[1].block, deviations = results[2].block;
    if (means == kNone || deviations == kNone || !low_[means] || !low_[deviations]) return;
    const Position made = step_.blocks[deviations].begin;
    Add(means, index, made + 0.1, op.end - 0.1, step_.blocks[means].requested);
    Add(means, index, made + 0.2, op.end - 0.2, step_.blocks[deviations].requested);
  }

  // Whether flash attention takes no such call: one with a mask, which is that argument, or with wide heads.
  [[nodiscard]] bool StaysEfficient(const Op& op, uint16_t bias, int64_t width) const {
    return Argument(step_, op, bias) != nullptr || width > kWidestFlash;
  }

  // Flash attention keeps the logarithm of each row's sum, without the padding of memory-efficient attention.
  void FlashForward(uint32_t index) {
    const Op& op = step_.ops[index];
    const Operand* const query = Argument(step_, op, 0);
    if (query == nullptr || step_.Rank(query->shape) != 4 || !IsLow(op)) return;
    const int64_t* const dims = step_.Dims(query->shape);  // batch, rows, heads, width
    uint32_t returned = kNone, sums = kNone, seed = kNone, offset = kNone;
    for (uint32_t i = 0; i < op.output_count; ++i) {
      const Operand& result = step_.operands[op.first_output + i];
      if (result.argument == 0) returned = result.block;
      if (result.argument == 1) sums = result.block;
      if (result.argument == 2) seed = result.block;
      if (result.argument == 3) offset = result.block;
    }
    if (sums == kNone) return WithoutGradients(index, returned, seed, offset, dims);
    if (StaysEfficient(op, kForwardBias, dims[3]))
      return SumWideHeads(sums, index, step_.blocks[sums].begin, dims);
    changed_.blocks[sums].requested = static_cast<uint64_t>(dims[0] * dims[1] * dims[2]) * kFloatBytes;
    const Position at = step_.blocks[sums].begin;
    if (seed != kNone && offset != kNone) {
      Split(sums, index, at);
      changed_.blocks[offset].begin = at + 0.1;
      changed_.blocks[seed].begin = at + 0.2;
    } else {
      Draw(sums, index, at);
    }
  }

  // Rows too few to fill the device: columns are shared out, and what each share makes is put together.
  void Split(uint32_t like, uint32_t index, Position behind) {
    const Op& op = step_.ops[index];
    const std::optional<AttentionCall> call = CallOf(op, 0);
    if (!call || FillsHeads(step_, op)) return;
    const FlashNeeds needs = FlashNeedsOf(*call, Multiprocessors{}.count);
    if (needs.split_sums == 0) return;
    Add(like, index, behind + 0.03, op.end - 0.06, needs.split_sums);
    Add(like, index, behind + 0.06, op.end - 0.05, needs.split_outputs);
  }

  // In 16 bits; `query`: its argument.
  [[nodiscard]] std::optional<AttentionCall> CallOf(const Op& op, uint16_t query) const {
    std::optional<AttentionCall> call = EfficientCallOf(step_, op, query);
    if (call) call->element = kFloatBytes / 2;
    return call;
  }

  // Memory-efficient attention stays, and sums in float what is too wide for one tile.
  void SumWideHeads(uint32_t like, uint32_t index, Position behind, const int64_t* dims) {
    const auto elements = static_cast<uint64_t>(dims[0] * dims[1] * dims[2] * dims[3]);
    if (dims[3] > kWidestEfficient)
      Add(like, index, behind + 0.1, step_.ops[index].end - 0.1, elements * kFloatBytes);
  }

  // Nothing is kept then, and no sums of rows are computed but by flash attention, behind its result.
  void WithoutGradients(uint32_t index, uint32_t returned, uint32_t seed, uint32_t offset,
                        const int64_t* dims) {
    const Op& op = step_.ops[index];
    if (returned == kNone || step_.blocks[returned].begin < op.begin) return;
    const Position at = step_.blocks[returned].begin;
    if (StaysEfficient(op, kForwardBias, dims[3])) return SumWideHeads(returned, index, at, dims);
    Add(returned, index, at + 0.1, op.end - 0.1,
        static_cast<uint64_t>(dims[0] * dims[1] * dims[2]) * kFloatBytes);
    if (seed == kNone || offset == kNone) return;
    changed_.blocks[offset].begin = at + 0.2;
    changed_.blocks[seed].begin = at + 0.3;
  }

  // Where dropout begins to draw: kept on the device by flash attention alone, the first of two blocks for it
  // is given up.
  void Draw(uint32_t sums, uint32_t index, Position at) {
    Add(sums, index, at + 0.1, at + 0.4, kSeedsBytes);
    uint32_t call = index;
    while (step_.ops[call].parent != kNone) call = step_.ops[call].parent;
    for (const Position begin : {at + 0.2, at + 0.3}) {
      Add(sums, index, begin, changed_.blocks[sums].end + (at + 0.4 - begin) * kHair, kSeedsBytes);
      changed_.blocks.back().category = changed_.blocks[sums].category;
      changed_.blocks.back().last_use = step_.ops[call].end;
      for (size_t i = 0, count = changed_.saved.size(); i < count; ++i) {
        if (changed_.saved[i].block != sums) continue;
        changed_.saved.push_back(Saved(changed_.saved[i]));
        changed_.saved.back().block = static_cast<uint32_t>(changed_.blocks.size() - 1);
      }
    }
  }

  // What backward of attention takes beside its results.
  void AttentionBackward(uint32_t index) {
    const Op& op = step_.ops[index];
    const Operand* const query = Argument(step_, op, 1);
    const std::optional<AttentionCall> call = CallOf(op, 1);
    if (!IsLow(op) || !call) return;
    for (const uint32_t block : Inside(index)) {
      if (IsResult(op, block)) continue;
      changed_.blocks[block].requested = 0;
      changed_.blocks[block].end = changed_.blocks[block].begin;
    }
    if (StaysEfficient(op, kBackwardBias, call->width))
      Efficient(index, *query, *call);
    else
      Flash(index, *query, *call);
  }

  // Memory-efficient attention without a mask is flash attention in 16 bits: backward keeps the sums of rows
  // and the gradient of the queries, both in float.
  void Flash(uint32_t index, const Operand& query, AttentionCall call) {
    const Op& op = step_.ops[index];
    // What is filled up is copied, so that it lies head by head.
    const bool filled = FillsHeads(step_, op) && call.rows > 1 && call.heads > 1;
    call.width = FilledWidth(call.width);
    const FlashNeeds needs = FlashNeedsOf(call, Multiprocessors{}.count);
    // Its kernel wants the gradient that it is given, and the result of forward, row by row.
    if (filled || IsGivenWithGaps(op))
      Add(query.block, index, op.begin + 0.05, op.end - 0.05, call.QueryBytes());
    if (filled || MakesResultWithGaps(query))
      Add(query.block, index, op.begin + 0.1, op.end - 0.1, call.QueryBytes());
    Add(query.block, index, op.end - 0.8, op.end - 0.2, needs.sums);
    Add(query.block, index, op.end - 0.7, op.end - 0.3, needs.queries);
    AddSpread(query, index, call, op.end - 0.6, op.end - 0.4);
  }

  // Its result lies as the queries do.
  [[nodiscard]] bool MakesResultWithGaps(const Operand& query) const {
    const std::span<const int64_t> sizes = SizesOf(step_, query), strides = StridesOf(step_, query);
    return strides.size() == sizes.size() && !LiesWithoutGaps(sizes, StridesOfResult(sizes, strides));
  }

  [[nodiscard]] bool IsGivenWithGaps(const Op& op) const {
    const Operand* const given = Argument(step_, op, 0);
    return given != nullptr && step_.shapes[given->strides].known &&
           !LiesWithoutGaps(SizesOf(step_, *given), StridesOf(step_, *given));
  }

  // With a mask, or wide heads, it stays. What float32 multiplies and sums before the kernel, that does
  // itself, into a float for each row (kKernelComputesDelta in mem_eff_attention/kernel_backward.h).
  void Efficient(uint32_t index, const Operand& query, const AttentionCall& call) {
    const Op& op = step_.ops[index];
    const Position end = op.end;
    // The gradient that it is given is copied as in float32, where it lies head by head.
    if (IsGivenWithGaps(op)) Add(query.block, index, op.begin + 0.05, end - 0.05, call.QueryBytes());
    AddSpread(query, index, call, end - 0.8, end - 0.2);
    Add(query.block, index, end - 0.7, end - 0.4,
        call.Heads() * static_cast<uint64_t>(call.rows) * kFloatBytes);
    Add(query.block, index, end - 0.6, end - 0.3, EfficientWorkspace(call));
  }

  // Gradients of keys and values, before heads that share one are added up. C++ lets go of the last first.
  void AddSpread(const Operand& query, uint32_t op, const AttentionCall& call, Position begin, Position end) {
    if (!call.Shares()) return;
    for (const Position later : {kHair, 0.0}) Add(query.block, op, begin, end + later, call.SpreadKeyBytes());
  }

  void Add(uint32_t like, uint32_t op, Position begin, Position end, uint64_t bytes) {
    StepBlock block = CopyOf(step_, like);
    block.requested = bytes;
    block.begin = begin;
    block.end = end;
    block.op = op;
    block.category = step_.ops[op].node == kNone ? Category::kTemporaryForward : Category::kTemporaryBackward;
    changed_.blocks.push_back(block);
  }

  const Step& step_;
  const std::vector<bool>& low_;
  Step& changed_;
  std::vector<std::vector<uint32_t>> born_;  // by operator: blocks that it made itself
  std::vector<bool> handed_;
};

}  // namespace

void ChangeKernels(const Step& step, const std::vector<bool>& low, Step& changed) {
  Kernels(step, low, changed).Change();
  TakeResultsAsViews(step, low, changed);
  TakeGradientsAsViews(step, low, changed);
  CopyGradientsInOtherOrder(step, low, changed);
  FillHeads(step, low, changed);
  MultiplyInLt(step, low, changed);
}

}  // namespace vramscope::whatif
