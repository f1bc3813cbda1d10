// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/separate_weights.h"

#include <algorithm>
#include <map>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/step/up_to.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

using Weights = std::map<uint64_t, uint64_t>;  // of a block: by offset, elements

// Blocks that hold several weights of a recurrent network.
std::map<uint32_t, Weights> FlattenedWeights(const Step& step) {
  std::map<uint32_t, Weights> flattened;
  for (const Op& op : step.ops) {
    if (step.NameOf(op) != "aten::_cudnn_rnn") continue;
    for (const Operand& operand : InputsOf(step, op)) {
      if (IsOfNetwork(step, operand)) flattened[operand.block][operand.offset] = ElementsIn(step, operand);
    }
  }
  std::erase_if(flattened, [](const auto& one) { return one.second.size() < 2; });
  return flattened;
}

// Where the block was made that a weight was moved to before it was flattened, which is there no longer then;
// 0: it was not seen.
Position TakeMoved(const Step& step, uint64_t elements, Step& changed) {
  const uint64_t bytes = UpTo(elements * BytesOf(kFloatType), kBlockUnit);
  for (size_t i = 0; i < step.passing.size(); ++i) {
    if (step.passing[i].bytes != bytes || changed.passing[i].bytes == 0) continue;
    changed.passing[i].bytes = 0;
    return step.passing[i].begin;
  }
  return 0;
}

}  // namespace

bool IsOfNetwork(const Step& step, const Operand& operand) {
  if (operand.block == kNone || operand.element == 0) return false;  // the list's alone
  return step.blocks[operand.block].category == classify::Category::kParameter ||
         std::binary_search(step.trained.begin(), step.trained.end(), operand.block);
}

void SeparateWeights(const Step& step, Step& changed) {
  for (const auto& [block, weights] : FlattenedWeights(step)) {
    bool first = true;
    for (const auto& [offset, elements] : weights) {
      if (!first) changed.blocks.push_back(CopyOf(changed, block));
      StepBlock& weight = first ? changed.blocks[block] : changed.blocks.back();
      weight.requested = elements * BytesOf(kBfloat16Type);
      if (const Position moved = TakeMoved(step, elements, changed); moved < kBefore) weight.set_up = moved;
      first = false;
    }
  }
  std::erase_if(changed.passing, [](const Passing& one) { return one.bytes == 0; });
}

}  // namespace vramscope::whatif
