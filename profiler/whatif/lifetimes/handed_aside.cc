// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/lifetimes/handed_aside.h"

#include <algorithm>
#include <map>
#include <utility>

#include "profiler/whatif/lifetimes/holders.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class AsideFinder {
 public:
  AsideFinder(const Step& step, const std::vector<uint32_t>& calls) : step_(step), calls_(calls) {
    for (uint32_t i = 0; i < calls.size(); ++i) {
      looked_at_[calls[i]] = i;
      // What a segment was given its own variables have when it first calls another module.
      if (HasInner(i)) looked_at_[calls[i] + 1] = i;
    }
    for (const Held& held : step.held)
      if (const auto at = looked_at_.find(held.call); at != looked_at_.end())
        given_.emplace_back(held.block, at->second);
    std::sort(given_.begin(), given_.end());
    for (uint32_t i = 0; i < step.blocks.size(); ++i)
      if (step.blocks[i].copy_of != kNone) copies_[step.blocks[i].copy_of].push_back(i);
  }

  [[nodiscard]] std::vector<HandedAside> Find() const {
    std::map<std::pair<uint32_t, uint32_t>, bool> aside;  // by what a later segment works on, and its name
    for (const Operand& operand : step_.operands) {
      const Op& op = step_.ops[operand.op];
      if (operand.block == kNone || op.node != kNone) continue;
      const uint32_t home = SegmentAt(step_.blocks[operand.block].begin), at = SegmentAt(op.begin);
      if (home == kNone || at == kNone || at <= home || !HasInner(at)) continue;
      const uint32_t block = MeantAt(operand.block, op.begin);
      if (block == kNone || SegmentAt(step_.blocks[block].begin) != home) continue;
      bool& is = aside.try_emplace({block, operand.block}, ComesOfForward(operand.block)).first->second;
      is &= !IsGiven(operand.block, at) && !IsGiven(block, at);
    }
    std::vector<HandedAside> found;
    for (const auto& [block, is] : aside)
      if (is) found.push_back({block.first, SegmentAt(step_.blocks[block.first].begin), block.second});
    return found;
  }

 private:
  [[nodiscard]] bool HasInner(uint32_t segment) const {
    const uint32_t inner = calls_[segment] + 1;
    return inner < step_.modules.size() && step_.modules[inner].parent == calls_[segment];
  }

  // Variables that hold a copy in 16 bits are said to hold that.
  [[nodiscard]] bool IsGiven(uint32_t block, uint32_t segment) const {
    return std::binary_search(given_.begin(), given_.end(), std::pair(block, segment));
  }

  [[nodiscard]] uint32_t SegmentAt(Position at) const {
    const auto behind = std::partition_point(calls_.begin(), calls_.end(),
                                             [&](uint32_t call) { return step_.modules[call].begin <= at; });
    if (behind == calls_.begin() || step_.modules[*(behind - 1)].end <= at) return kNone;
    return static_cast<uint32_t>(behind - calls_.begin() - 1);
  }

  // Behind the block's end it is a copy in 16 bits that operators are said to see as the block.
  [[nodiscard]] uint32_t MeantAt(uint32_t block, Position at) const {
    if (at <= step_.blocks[block].replaced && at <= step_.blocks[block].end) return block;
    uint32_t meant = kNone;
    if (const auto copies = copies_.find(block); copies != copies_.end())
      for (const uint32_t copy : copies->second) {
        const StepBlock& one = step_.blocks[copy];
        if (one.begin <= at && at <= one.end && (meant == kNone || step_.blocks[meant].begin < one.begin))
          meant = copy;
      }
    return meant;
  }

  // A copy of a weight is a cache's of autocast, which nobody is given.
  [[nodiscard]] bool ComesOfForward(uint32_t block) const {
    const uint32_t maker = OutermostMaker(step_, block);
    if (maker == kNone || step_.blocks[block].copy_of != kNone) return false;
    const std::span<const Operand> inputs = InputsOf(step_, step_.ops[maker]);
    return std::any_of(inputs.begin(), inputs.end(), [&](const Operand& input) {
      return input.block != kNone && step_.blocks[input.block].begin != kBefore;
    });
  }

  const Step& step_;
  const std::vector<uint32_t>& calls_;
  std::map<uint32_t, uint32_t> looked_at_;            // by call: the segment
  std::vector<std::pair<uint32_t, uint32_t>> given_;  // (block, segment), sorted
  std::map<uint32_t, std::vector<uint32_t>> copies_;  // by block
};

}  // namespace

std::vector<HandedAside> FindHandedAside(const Step& step, const std::vector<uint32_t>& calls) {
  const bool none = step.held.empty() || calls.size() < 2;
  return none ? std::vector<HandedAside>() : AsideFinder(step, calls).Find();
}

}  // namespace vramscope::whatif
