// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/weight_copies.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "profiler/classify/births.h"

namespace vramscope::classify {
namespace {

using model::Block;
using model::BlockId;
using trace::LabelSource;
using trace::Role;

using DeviceOfProcess = std::pair<model::ProcessIndex, uint16_t>;
using CountBySize = std::unordered_map<uint64_t, size_t>;

struct Weights {
  CountBySize sizes;
  size_t count = 0;
};

bool IsNamedParameter(const model::Run& run, const Block& block) {
  const model::BlockFacts* const facts = run.FactsOf(block);
  if (facts == nullptr) return false;
  for (uint32_t i = facts->first_label; i != model::kNone; i = run.labels[i].next) {
    if (run.labels[i].role == Role::kParameter && run.labels[i].source != LabelSource::kAccumulateGrad)
      return true;
  }
  return false;
}

// A block that autograd or a label refers to is part of the model, so it is not a separate copy.
bool MayBeCopy(const model::Run& run, const Block& block) {
  const model::BlockFacts* const facts = run.FactsOf(block);
  return facts == nullptr || (facts->first_label == model::kNone && facts->first_saved == model::kNever);
}

}  // namespace

std::vector<BlockId> FindWeightCopies(const model::Run& run, std::span<const timeline::Training> training) {
  std::map<DeviceOfProcess, Weights> weights;
  std::map<std::pair<DeviceOfProcess, uint32_t>, std::vector<BlockId>> made;  // before each step
  Births births(run, training);
  for (BlockId id = 0; id < run.blocks.size(); ++id) {
    const Block& block = run.blocks[id];
    const Birth birth = births.Of(block);
    const DeviceOfProcess device = {run.ProcessOf(block), block.device_code};
    // The copy must be alive during training: temporary blocks of model setup do not count.
    const bool stays = birth.backward != model::kNever && block.free_event > birth.backward;
    const bool between = birth.part == timeline::Part::kPrepare && birth.step != 0 && stays;
    if (between && MayBeCopy(run, block)) made[{device, birth.step}].push_back(id);
    if (between || !IsNamedParameter(run, block)) continue;
    ++weights[device].sizes[block.Requested()];
    ++weights[device].count;
  }
  std::vector<BlockId> copies;
  for (const auto& [key, blocks] : made) {
    const auto found = weights.find(key.first);
    if (found == weights.end() || found->second.count < 2 || blocks.size() < found->second.count) continue;
    const CountBySize& sizes = found->second.sizes;
    CountBySize counted;
    for (const BlockId id : blocks) ++counted[run.blocks[id].Requested()];
    const bool all = std::all_of(sizes.begin(), sizes.end(), [&](const auto& size) {
      const auto of_size = counted.find(size.first);
      return of_size != counted.end() && of_size->second >= size.second;
    });
    if (!all) continue;
    for (const BlockId id : blocks) {
      if (sizes.contains(run.blocks[id].Requested())) copies.push_back(id);
    }
  }
  std::sort(copies.begin(), copies.end());
  return copies;
}

}  // namespace vramscope::classify
