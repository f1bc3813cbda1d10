// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/training/parameters.h"

#include <algorithm>
#include <map>

#include "profiler/classify/names.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class Turns {
 public:
  explicit Turns(const Step& step) {
    for (const BlockIndex parameter : step.trained)
      of_size_[step.blocks[parameter].requested].push_back(parameter);
  }
  // The next parameter of that size; none if no parameter has it.
  BlockIndex Next(uint64_t bytes) {
    const auto found = of_size_.find(bytes);
    if (found == of_size_.end()) return {};
    return found->second[turn_[bytes]++ % found->second.size()];
  }

 private:
  std::map<uint64_t, std::vector<BlockIndex>> of_size_;
  std::map<uint64_t, size_t> turn_;
};

}  // namespace

bool MadeByOptimizer(const Step& step, const StepBlock& block) { return Within(step.optimizer, block.begin); }

std::string WhyFlatWeights(const Step& step) {
  const bool flat = std::any_of(step.ops.begin(), step.ops.end(),
                                [&](const Op& op) { return step.NameOf(op) == "aten::_cudnn_rnn"; });
  return flat ? "cuDNN keeps all weights of a recurrent network in one block. The trace does not show which "
                "part belongs to which weight."
              : "";
}

Position SetUpAt(const Step& step, BlockIndex block) {
  const model::BlockId id = step.blocks[block].id;
  if (id >= step.run->blocks.size() || step.run->blocks[id].alloc_event >= step.first.begin) return kBefore;
  return BeforeLoop(step.run->blocks[id].alloc_event, step.first);
}

bool IsParameter(const Step& step, BlockIndex block) {
  return std::binary_search(step.trained.begin(), step.trained.end(), block) ||
         (step.blocks[block].category == classify::Category::kParameter &&
          step.blocks[block].copy_of == kNone);
}

void Drop(StepBlock& block) {
  block.requested = 0;
  block.begin = block.begin == kBefore ? 0 : block.begin;
  block.end = After(block.begin);
  block.accumulated = kForever;
}

void TakeAwayOptimizer(Scene& scene) {
  std::erase_if(scene.blocks, [&](const Block& block) {
    if (block.category == classify::Category::kOptimizerState) return true;
    return block.birth == Birth::kEachStep && Within(scene.optimizer, block.begin);
  });
}

std::vector<BlockIndex> SteppedParameters(const Step& step) {
  std::map<std::string_view, BlockIndex> by_name;
  for (const BlockIndex parameter : step.trained) by_name[step.blocks[parameter].name] = parameter;
  Turns turns(step);
  std::vector<BlockIndex> parameters;
  for (const StepBlock& block : step.blocks) {
    parameters.emplace_back();
    const bool state = block.category == classify::Category::kOptimizerState;
    if (!state && !MadeByOptimizer(step, block)) continue;
    const auto named = by_name.find(classify::ParameterOfName(block.name));
    parameters.back() = state && named != by_name.end() ? named->second : turns.Next(block.requested);
  }
  return parameters;
}

void StepOnly(const std::function<bool(BlockIndex)>& kept, Step& step) {
  const std::vector<BlockIndex> parameters = SteppedParameters(step);
  for (const BlockIndex i : step.blocks.Indices()) {
    if (parameters[i] != kNone && !kept(parameters[i])) Drop(step.blocks[i]);
  }
  std::erase_if(step.trained, [&](BlockIndex parameter) { return !kept(parameter); });
}

}  // namespace vramscope::whatif
