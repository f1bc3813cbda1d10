// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/linears.h"

#include <algorithm>

#include "profiler/whatif/step/cublas.h"
#include "profiler/whatif/step/release.h"
#include "profiler/whatif/step/strides.h"

namespace vramscope::whatif {

using model::kNone;

namespace {

constexpr uint32_t kBiased = 3;  // so many operands

// Where the operator is within a linear layer.
uint32_t LinearAround(const Step& step, uint32_t parent) {
  while (parent != kNone && step.NameOf(step.ops[parent]) != "aten::linear") parent = step.ops[parent].parent;
  return parent;
}

// What a conversion makes of it has no gaps, and it has; the result lies as `wanted`.
bool LosesGaps(const Step& step, const Operand& x, const Extents& wanted) {
  if (!step.shapes[x.strides].known || step.Rank(x.strides) != step.Rank(x.shape)) return false;
  const std::span<const int64_t> sizes = SizesOf(step, x), strides = StridesOf(step, x);
  if (LiesWithoutGaps(sizes, strides)) return false;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] < 1 || strides[d] < 1) return false;
  // What is dense keeps its strides.
  return static_cast<uint64_t>(ElementsSpanned(sizes, strides)) > ElementsIn(step, x) &&
         StridesOfResult(sizes, strides) == wanted;
}

// Of a clone: contiguous(channels_last) of images is another one than contiguous().
Extents StridesOfClone(const Step& step, const Op& clone) {
  const Operand& made = OutputsOf(step, clone)[0];
  if (!step.shapes[made.strides].known) return StridesWithoutGaps(SizesOf(step, InputsOf(step, clone)[0]));
  const std::span<const int64_t> strides = StridesOf(step, made);
  return {strides.begin(), strides.end()};
}

// Whether the current version of the block is what the call that the operator is in, or in backward the one
// that its node was made in, converted for itself.
bool ConvertedForCall(const Step& step, const Op& op, uint32_t block, const Versions& versions) {
  uint32_t call = op.node == kNone ? op.parent : step.nodes[op.node].op;
  if (call == kNone || !versions.IsCopy(block)) return false;
  while (step.ops[call].parent != kNone) call = step.ops[call].parent;
  const Position made = versions.MadeAt(versions.Current(block));
  return step.ops[call].begin <= made && made < step.ops[call].end;
}

}  // namespace

const Operand* ClonedInLinear(const Step& step, const Op& op) {
  if (op.node != kNone || step.NameOf(op) != "aten::clone" || op.input_count == 0 || op.output_count == 0)
    return nullptr;
  const uint32_t linear = LinearAround(step, op.parent);
  if (linear == kNone || step.ops[linear].input_count == 0) return nullptr;
  const Operand& x = InputsOf(step, step.ops[linear])[0];
  const bool same = x.block != kNone && InputsOf(step, op)[0].block == x.block;
  if (!same || step.Rank(x.shape) < 3) return nullptr;
  return LosesGaps(step, x, StridesWithoutGaps(SizesOf(step, x))) ? &x : nullptr;
}

bool ClonesWhatIsGiven(const Step& step, const Op& op) {
  if (step.NameOf(op) != "aten::clone" || op.input_count == 0 || op.output_count == 0 || op.parent == kNone)
    return false;
  const Op& contiguous = step.ops[op.parent];
  const Operand& cloned = InputsOf(step, op)[0];
  if (step.NameOf(contiguous) != "aten::contiguous" || cloned.block == kNone ||
      !LosesGaps(step, cloned, StridesOfClone(step, op)))
    return false;
  for (uint32_t around = contiguous.parent; around != kNone; around = step.ops[around].parent) {
    const std::span<const Operand> given = InputsOf(step, step.ops[around]);
    if (std::any_of(given.begin(), given.end(),
                    [&](const Operand& one) { return IsSameView(step, one, cloned); }))
      return true;
  }
  return false;
}

void TakeCopyForClone(const Step& step, const Op& op, Versions& versions) {
  const Operand* const cloned = ClonedInLinear(step, op);
  if (cloned != nullptr && versions.IsCopy(cloned->block))
    versions.Alias(OutputsOf(step, op)[0].block, cloned->block);
  else if (ClonesWhatIsGiven(step, op) && ConvertedForCall(step, op, InputsOf(step, op)[0].block, versions))
    versions.LeaveOut(OutputsOf(step, op)[0].block, InputsOf(step, op)[0].block);
}

namespace {

constexpr Position kMoment = 0.5;

struct Layer {
  const Op* linear = nullptr;
  uint32_t clone = kNone;                // block, without bytes now
  std::vector<uint32_t> products, sums;  // of backward, into Step::ops
};

// Whether autocast converts what the layer is given, which then lies without gaps.
bool ConvertsInput(const Step& step, const Step& changed, const Op& linear) {
  const uint32_t x = InputsOf(step, linear)[0].block;
  const auto put_in = changed.blocks.begin() + static_cast<std::ptrdiff_t>(step.blocks.size());
  return std::any_of(put_in, changed.blocks.end(), [&](const StepBlock& block) {
    return block.copy_of == x && linear.begin <= block.begin && block.begin < linear.end;
  });
}

// Of those that freezing left without one, which become products of batches else.
std::vector<Layer> LayersWithoutClones(const Step& step, const Step& changed) {
  std::vector<Layer> layers;
  for (const Op& op : step.ops) {
    if (ClonedInLinear(step, op) == nullptr) continue;
    const Layer layer{&step.ops[LinearAround(step, op.parent)], OutputsOf(step, op)[0].block, {}, {}};
    const bool none = layer.clone != kNone && changed.blocks[layer.clone].requested == 0;
    if (none && layer.linear->input_count == kBiased && layer.linear->end < kForever &&
        (step.blocks[layer.clone].requested != 0 || ConvertsInput(step, changed, *layer.linear)))
      layers.push_back(layer);
  }
  std::sort(layers.begin(), layers.end(),
            [](const Layer& a, const Layer& b) { return a.linear->begin < b.linear->begin; });
  return layers;
}

void FindBackward(const Step& step, std::vector<Layer>& layers) {
  std::vector<Layer*> of_node(step.nodes.size(), nullptr);
  for (size_t i = 0; i < step.nodes.size(); ++i) {
    const auto behind =
        std::upper_bound(layers.begin(), layers.end(), step.nodes[i].made,
                         [](Position at, const Layer& layer) { return at < layer.linear->begin; });
    if (behind != layers.begin() && step.nodes[i].made < (behind - 1)->linear->end)
      of_node[i] = &*(behind - 1);
  }
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    const Op& op = step.ops[i];
    Layer* const layer = op.node == kNone ? nullptr : of_node[op.node];
    if (layer == nullptr || op.output_count == 0 || OutputsOf(step, op)[0].block == kNone) continue;
    if (step.NameOf(op) == "aten::mm") layer->products.push_back(i);
    if (step.NameOf(op) == "aten::sum") layer->sums.push_back(i);
  }
}

void ReorderGradients(const Step& step, const Layer& layer, Step& changed) {
  if (layer.products.empty() || layer.sums.size() != 1) return;
  const auto result = [&](uint32_t op) { return OutputsOf(step, step.ops[op])[0].block; };
  const Op& first = step.ops[layer.products.front()];
  const auto inputs = InputsOf(step, first);
  const bool of_weight = std::any_of(inputs.begin(), inputs.end(),
                                     [&](const Operand& input) { return input.block == layer.clone; });
  if (layer.products.size() == 2 && of_weight) {
    StepBlock &weight = changed.blocks[result(layer.products[0])],
              &input = changed.blocks[result(layer.products[1])];
    if (first.begin < weight.begin && weight.begin < input.begin && input.begin < weight.end)
      std::swap(weight.begin, input.begin);  // what made them is as recorded: operators are not reordered
  }
  StepBlock& of_bias = changed.blocks[result(layer.sums.front())];
  const Position behind = step.ops[layer.products.back()].end + kMoment;
  if (of_bias.begin < behind && behind < of_bias.end) of_bias.begin = behind;
}

// Of an operator of the step.
bool IsWorkspaceOfOne(const StepBlock& block) {
  return block.workspace && block.begin > kBefore && block.op != kNone;
}

bool AddsWhole(const Step& step, const Op& op, const std::vector<bool>& low) {
  if (step.NameOf(op) != "aten::addmm" || op.input_count == 0 || op.output_count == 0) return false;
  const Operand &added = InputsOf(step, op)[0], &result = OutputsOf(step, op)[0];
  const std::span<const int64_t> strides = StridesOf(step, added);
  return result.block != kNone && low[result.block] && strides.size() == 2 && strides[1] == 1 &&
         strides[0] >= SizesOf(step, added)[1] && added.block != result.block &&
         std::ranges::equal(SizesOf(step, added), SizesOf(step, result));
}

bool AddsBias(const Step& step, const Op& op) {
  return step.NameOf(op) == "aten::addmm" && op.input_count != 0 &&
         step.Rank(InputsOf(step, op)[0].shape) == 1;
}

}  // namespace

void MultiplyInLt(const Step& step, const std::vector<bool>& low, Step& changed) {
  if (!IsFrom(step.torch_version, 2, 15)) return;
  const auto of_bias = std::ranges::find_if(step.blocks, [&](const StepBlock& block) {
    return IsWorkspaceOfOne(block) && AddsBias(step, step.ops[block.op]);
  });
  if (of_bias == step.blocks.end()) return;
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    const StepBlock& block = step.blocks[i];
    if (IsWorkspaceOfOne(block) && AddsWhole(step, step.ops[block.op], low))
      changed.blocks[i].requested = of_bias->requested;
  }
}

void ComputeAsAddmm(const Step& step, Step& changed) {
  std::vector<Layer> layers = LayersWithoutClones(step, changed);
  if (layers.empty()) return;
  FindBackward(step, layers);
  const auto addmm = std::find_if(step.blocks.begin(), step.blocks.end(), [&](const StepBlock& block) {
    return IsWorkspaceOfOne(block) && step.NameOf(step.ops[block.op]) == "aten::addmm";
  });
  for (const Layer& layer : layers) {
    ReorderGradients(step, layer, changed);
    if (addmm == step.blocks.end()) continue;
    // With one feature it is no product for cuBLASLt (aten/src/ATen/native/cuda/Blas.cpp).
    const Operand& weight = InputsOf(step, *layer.linear)[1];
    const bool one = step.Rank(weight.shape) == 2 && SizesOf(step, weight)[0] == 1;
    const uint64_t workspace = one ? WorkspaceOfProducts(step).bytes : addmm->requested;
    for (uint32_t i = layer.clone; i < step.blocks.size() && step.blocks[i].begin < layer.linear->end; ++i)
      if (step.blocks[i].workspace) changed.blocks[i].requested = workspace;
  }
}

}  // namespace vramscope::whatif
