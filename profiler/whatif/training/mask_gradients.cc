// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/training/mask_gradients.h"

#include <algorithm>
#include <string>
#include <utility>

#include "profiler/whatif/attention/attention.h"
#include "profiler/whatif/step/segments.h"
#include "profiler/whatif/step/up_to.h"
#include "profiler/whatif/training/input_gradients.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr uint16_t kAddedMask = 4;  // an argument of backward

// What backward of attention is given as its mask; nullptr: it is no such operator, or has none.
const Operand* MaskIn(const Step& step, const Op& op) {
  if (op.node == kNone || step.NameOf(op) != kEfficientBackward) return nullptr;
  for (const Operand& operand : InputsOf(step, op))
    if (operand.argument == kAddedMask && operand.block != kNone && step.Rank(operand.shape) == 4 &&
        step.shapes[operand.strides].known && step.Rank(operand.strides) == 4)
      return &operand;
  return nullptr;
}

// What the operator of forward that made the node adds to something larger; nullptr: it does not.
const Operand* AddedBy(const Step& step, const Node& node) {
  if (node.op == kNone) return nullptr;
  const Op& op = step.ops[node.op];
  if (step.NameOf(op) != "aten::add" && step.NameOf(op) != "aten::add_") return nullptr;
  for (const Operand& operand : InputsOf(step, op))
    for (const Operand& result : OutputsOf(step, op))
      if (operand.block != kNone && operand.block != result.block && step.shapes[operand.shape].known &&
          ElementsIn(step, operand) < ElementsIn(step, result))
        return &operand;
  return nullptr;
}

// A node that gives a mask its gradient.
struct Taker {
  const Operand* mask = nullptr;
  uint32_t node = kNone;
  const Op* attention = nullptr;  // that computes it; nullptr: it is that of the scores
};

// Those that run, as backward does.
std::vector<Taker> TakersOfMasks(const Step& step) {
  std::vector<Taker> takers;
  for (const Op& op : step.ops)
    if (const Operand* const mask = MaskIn(step, op)) takers.push_back({mask, op.node, &op});
  for (uint32_t i = 0; i < step.nodes.size(); ++i)
    if (const Operand* const mask = AddedBy(step, step.nodes[i])) takers.push_back({mask, i});
  std::erase_if(takers, [&](const Taker& one) { return step.nodes[one.node].end >= kForever; });
  std::stable_sort(takers.begin(), takers.end(), [&](const Taker& a, const Taker& b) {
    return step.nodes[a.node].end < step.nodes[b.node].end;
  });
  return takers;
}

// Rows that are no multiple of eight long attention fills up, each time in a block of its own
// (preprocess_mask in aten/src/ATen/native/transformers/attention.cpp): no such block is the mask.
bool IsPadded(const Step& step, uint32_t block) {
  for (uint32_t op = step.blocks[block].op; op != kNone; op = step.ops[op].parent)
    if (step.NameOf(step.ops[op]) == "aten::constant_pad_nd" || step.NameOf(step.ops[op]) == "aten::pad")
      return true;
  return false;
}

// By block: whether autograd has a node for what it is computed from, so that its gradient was computed as
// recorded.
std::vector<bool> AreComputed(const Step& step) {
  std::vector<bool> computed;
  for (const StepBlock& block : step.blocks) computed.push_back(block.begin == kBefore);
  for (const Node& node : step.nodes) {
    if (node.op == kNone) continue;
    for (const Operand& result : OutputsOf(step, step.ops[node.op]))
      if (result.block != kNone) computed[result.block] = true;
  }
  return computed;
}

// When the operator has made what it returns.
Position BehindResults(const Step& step, const Op& op) {
  Position at = op.begin;
  for (const Operand& result : OutputsOf(step, op))
    if (result.block != kNone) at = std::max(at, step.blocks[result.block].begin);
  return at;
}

// Rows are filled up to whole vectors of 16.
uint64_t BytesOfGradient(const Step& step, const Operand& mask) {
  constexpr uint64_t kVector = 16;
  const std::span<const int64_t> sizes = SizesOf(step, mask), strides = StridesOf(step, mask);
  uint64_t own = 1, all = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const auto size = static_cast<uint64_t>(std::max<int64_t>(sizes[d], 0));
    if (strides[d] != 0) own *= size;
    all *= d + 1 == sizes.size() ? UpTo(size, kVector) : size;
  }
  return own == 0 ? 0 : step.blocks[mask.block].requested / own * all;
}

}  // namespace

Result<std::vector<uint32_t>> MasksOf(const Step& step, std::string_view modules) {
  std::vector<uint32_t> masks;
  if (modules.empty()) return masks;
  const std::vector<Taker> takers = TakersOfMasks(step);
  const std::vector<bool> computed = AreComputed(step);
  for (std::string_view rest = modules; !rest.empty();) {
    const std::string_view pattern = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(pattern.size() + 1, rest.size()));
    bool found = false;
    for (const Taker& taker : takers) {
      const Operand* const mask = taker.mask;
      if (computed[mask->block] || IsPadded(step, mask->block)) continue;
      const uint32_t call = CallAt(step, step.blocks[mask->block].begin);
      if (call == kNone || !PathMatches(pattern, step.Text(step.modules[call].name))) continue;
      found = true;
      if (std::find(masks.begin(), masks.end(), mask->block) == masks.end()) masks.push_back(mask->block);
    }
    if (!found)
      return Error{"no module of the recorded step that makes a mask for attention is called " +
                   std::string(pattern) + "."};
  }
  return masks;
}

void AddMaskGradients(const Step& step, const std::vector<uint32_t>& masks, Scene& scene) {
  if (masks.empty()) return;
  const Position released = GraphGoes(step);
  const std::vector<Taker> takers = TakersOfMasks(step);
  for (const uint32_t mask : masks) {
    for (Block& block : scene.blocks)
      if (block.origin == mask && block.begin < scene.backward.front().begin) block.end = released + kHair;
    bool first = true;
    for (const Taker& taker : takers) {
      if (taker.mask->block != mask) continue;
      const Position summed = step.nodes[taker.node].end + 2 * kHair;
      Block gradient;
      gradient.origin = mask;
      gradient.category = Category::kTemporaryBackward;
      gradient.stream = step.blocks[mask].stream;
      if (taker.attention != nullptr) {
        gradient.begin = BehindResults(step, *taker.attention) + kHair, gradient.end = summed + kHair;
        gradient.bytes = BytesOfGradient(step, *taker.mask);
        gradient.for_each_sample = true;
        scene.blocks.push_back(gradient);
      }
      gradient.begin = summed;
      gradient.end = first ? released + 2 * kHair : summed + 2 * kHair;
      gradient.bytes = step.blocks[mask].requested;
      gradient.for_each_sample = false;
      if (std::exchange(first, false)) gradient.category = Category::kGradient;
      scene.blocks.push_back(gradient);
    }
  }
}

}  // namespace vramscope::whatif
