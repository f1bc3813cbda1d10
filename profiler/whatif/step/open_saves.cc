// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/open_saves.h"

#include <algorithm>
#include <utility>

namespace vramscope::whatif {

using model::kNone;

void OpenSaves::Add(Step& step, const Saved& saved) {
  open_[saved.block].push_back(static_cast<uint32_t>(step.saved.size()));
  step.saved.push_back(saved);
}

void OpenSaves::Release(Step& step, BlockIndex block, Position now) {
  const auto found = open_.find(block);
  if (found == open_.end() || found->second.empty()) return;
  std::vector<uint32_t>& open = found->second;
  const auto order = [&](uint32_t saved) {  // of equal ones, the first is taken
    const NodeIndex node = step.saved[saved].node;
    const bool ran = node != kNone && step.nodes[node].begin < kForever;
    return std::pair(ran ? step.nodes[node].begin : kBefore, node != kNone && node == last_node_);
  };
  const auto latest =
      std::max_element(open.begin(), open.end(), [&](uint32_t a, uint32_t b) { return order(a) < order(b); });
  step.saved[*latest].released = now;
  last_node_ = step.saved[*latest].node;
  open.erase(latest);
}

void OpenSaves::Settle(Step& step) {
  const auto begin = [&](const Saved& saved) { return step.nodes[saved.node].begin; };
  std::unordered_map<BlockIndex, std::vector<uint32_t>> unneeded;
  for (uint32_t i = 0; i < step.saved.size(); ++i)
    if (step.saved[i].node != kNone && begin(step.saved[i]) >= kForever)
      unneeded[step.saved[i].block].push_back(i);
  for (Saved& saved : step.saved) {
    const auto found = saved.node == kNone ? unneeded.end() : unneeded.find(saved.block);
    if (found == unneeded.end() || saved.released >= begin(saved) || begin(saved) >= kForever) continue;
    for (const uint32_t other : found->second) {
      const Position released = step.saved[other].released;
      if (released < begin(saved) || released >= kForever) continue;
      std::swap(saved.released, step.saved[other].released);
      break;
    }
  }
}

}  // namespace vramscope::whatif
