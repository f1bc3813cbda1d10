// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/uneven_samples.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint64_t kShare = 100;  // of what is there at once

// The most bytes of these blocks at once.
uint64_t MostAtOnce(const Step& step, const std::vector<bool>& counted) {
  std::vector<std::pair<Position, int64_t>> changes;
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    const StepBlock& block = step.blocks[i];
    if (!counted[i]) continue;
    changes.emplace_back(block.begin, static_cast<int64_t>(block.requested));
    if (block.end < kForever) changes.emplace_back(block.end, -static_cast<int64_t>(block.requested));
  }
  std::ranges::sort(changes);
  int64_t now = 0, most = 0;
  for (const auto& [at, bytes] : changes) most = std::max(most, now += bytes);
  return static_cast<uint64_t>(most);
}

}  // namespace

std::string WhyUneven(const Step& step, const BatchAxis& axis) {
  if (axis.uneven.empty()) return "";
  std::vector<bool> made(step.blocks.size(), false);
  int64_t rows = 0;
  for (const Operand& operand : step.operands) {
    if (operand.block == kNone || axis.stride[operand.block] == 0) continue;
    for (const int64_t size : SizesOf(step, operand)) {
      if (!axis.uneven.contains(size)) continue;
      made[operand.block] = true;
      rows = std::max(rows, size);
    }
  }
  const uint64_t all = MostAtOnce(step, std::vector<bool>(step.blocks.size(), true));
  if (MostAtOnce(step, made) * kShare <= all) return "";
  return "the samples of the recorded batch have unequally many things, " + std::to_string(rows) +
         " together, and what is made of these is more than a hundredth of its memory: "
         "how many another batch has is not known. Record it with as many in each.";
}

}  // namespace vramscope::whatif
