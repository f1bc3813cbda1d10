// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/batch_norms.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string_view>

#include "profiler/whatif/step/strides.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint64_t kNumberBytes = 4;                               // of floats and of counters
constexpr uint64_t kNumbersOfForward = 4, kNumbersOfBackward = 2;  // of each channel
constexpr Position kHair = 0.1;

uint64_t Parts(uint64_t count, uint64_t of) { return (count + of - 1) / of; }

class OwnKernels {
 public:
  OwnKernels(const Step& step, const std::vector<bool>& low, Step& changed)
      : step_(step), low_(low), changed_(changed) {}

  void Change() {
    for (uint32_t i = 0; i < step_.ops.size(); ++i) {
      const std::string_view name = step_.NameOf(step_.ops[i]);
      const bool forward = name == "aten::cudnn_batch_norm";
      if (!forward && name != "aten::cudnn_batch_norm_backward") continue;
      const Op& op = step_.ops[i];
      const std::span<const Operand> given = InputsOf(step_, op), made = OutputsOf(step_, op);
      if (given.empty() || made.size() < 3 || made[0].block == kNone || !low_[made[0].block]) continue;
      const std::span<const int64_t> sizes = SizesOf(step_, given[0]), strides = StridesOf(step_, given[0]);
      if (!step_.shapes[given[0].strides].known || sizes.size() < 3 || IsEmpty(step_, given[0]) ||
          !LiesChannelsLast(sizes, strides))
        continue;
      const auto channels = static_cast<uint64_t>(sizes[1]);
      const Staging staging = StagingOf(channels, ElementsIn(step_, given[0]) / channels);
      if (forward && made[1].block != kNone) Reduce(i, made, kNumbersOfForward, staging);
      if (!forward) Differentiate(i, given, made, staging);
    }
  }

 private:
  // Behind all that it hands out. Returns when that is done.
  Position Reduce(uint32_t op, std::span<const Operand> made, uint64_t numbers, const Staging& staging) {
    Position at = kBefore;
    for (const Operand& result : made)
      if (result.block != kNone) at = std::max(at, step_.blocks[result.block].begin);
    if (staging.numbers == 0) return at + kHair;
    Add(op, made[0].block, at + kHair, at + 4 * kHair, staging.numbers * numbers);
    Add(op, made[0].block, at + 2 * kHair, at + 3 * kHair, staging.semaphores);
    return at + 5 * kHair;
  }

  // The sums are as large as the statistics that forward kept, which it is given last.
  void Differentiate(uint32_t index, std::span<const Operand> given, std::span<const Operand> made,
                     const Staging& staging) {
    const Op& op = step_.ops[index];
    const Position begun = step_.blocks[made[0].block].begin;
    const Position reduced = Reduce(index, made, kNumbersOfBackward, staging);
    changed_.blocks[made[0].block].begin = reduced;
    uint32_t kept = given[0].block;
    for (const Operand& operand : given)
      if (operand.block != kNone) kept = operand.block;
    const auto bytes = static_cast<uint64_t>(SizesOf(step_, given[0])[1]) * kNumberBytes;
    for (const Position turn : {2.0, 1.0})  // C++ lets go of the last first
      Add(index, kept, begun - turn * kHair, op.end - (3 - turn) * kHair, bytes);
  }

  void Add(uint32_t op, uint32_t like, Position begin, Position end, uint64_t bytes) {
    StepBlock block = CopyOf(step_, like);
    block.requested = bytes;
    block.begin = begin, block.end = end;
    block.op = op;
    block.category = step_.ops[op].node == kNone ? classify::Category::kTemporaryForward
                                                 : classify::Category::kTemporaryBackward;
    changed_.blocks.push_back(block);
  }

  const Step& step_;
  const std::vector<bool>& low_;
  Step& changed_;
};

}  // namespace

Staging StagingOf(uint64_t channels, uint64_t reduced) {
  constexpr uint64_t kWidth = 32, kThreads = 512, kElements = 16, kMost = 128, kFewest = 8;
  const uint64_t high = std::min(std::bit_floor(Parts(reduced, kElements)),
                                 kThreads / std::min(std::bit_floor(channels), kWidth));
  uint64_t wide = std::min(std::bit_floor(channels), kWidth);
  if (wide * high != kThreads) wide = std::min(std::bit_floor(channels), kThreads / high);
  const uint64_t blocks = std::min(Parts(reduced, high * kElements), kMost);
  if (blocks < kFewest) return {};
  return {channels * blocks * kNumberBytes, Parts(channels, wide) * kNumberBytes};
}

void NormalizeByOwnKernels(const Step& step, const std::vector<bool>& low, Step& changed) {
  OwnKernels(step, low, changed).Change();
}

}  // namespace vramscope::whatif
