// SPDX-License-Identifier: Apache-2.0
// Gradient accumulation: the batch of a step in k parts, one after the other, with one optimizer step behind
// them.
//
//   recorded        zero │ forward  backward │ update  optimizer
//   accumulating    zero │ forward  backward │ forward  backward │ update  optimizer
//                          gradients are kept  ──────────────────▶
//                                              new ones end where autograd has added them
//
// At most four parts are written out: the fifth finds the allocator as the fourth did. What a part leaves
// behind (batch, logits, loss) ends in the next one where it ended in the next step.
#include <algorithm>
#include <charconv>

#include "profiler/whatif/batch_axis.h"
#include "profiler/whatif/lever.h"

namespace vramscope::whatif {
namespace {

constexpr Position kHair = 1e-6;
constexpr int64_t kMost = 1 << 20;
constexpr int64_t kWritten = 4;

// The part of a step that is repeated, and where things lie when it is there several times.
struct Repeat {
  Position from, to, old_length;
  int64_t parts;

  [[nodiscard]] Position once() const { return to - from; }
  [[nodiscard]] Position more() const { return static_cast<Position>(parts - 1) * once(); }
  [[nodiscard]] Position new_length() const { return old_length + more(); }
  [[nodiscard]] bool Holds(Position at) const { return from <= at && at < to; }
  // Where an end lies that is not repeated: behind the last part, or in the next step.
  [[nodiscard]] Position Moved(Position at) const {
    if (at >= kForever || at < from) return at;
    return at < old_length ? at + more() : at - old_length + new_length();
  }
};

class Accumulate final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {"accumulate", "K",
                                        "the batch in K parts, one optimizer step for all of them",
                                        "as for batch, and one backward pass in a step"};
    return kInfo;
  }

  std::vector<std::string> Settings(const Step& step) const override {
    if (step.backward.size() != 1 || step.optimizer.empty()) return {};
    const Result<BatchAxis>& axis = FollowBatch(step);
    if (!axis.ok()) return {};
    std::vector<std::string> parts;
    for (int64_t k = 2; k <= axis->batch; k *= 2) {
      if (axis->batch % k == 0) parts.push_back(std::to_string(k));
    }
    return parts;
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    int64_t parts = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parts);
    if (error != std::errc() || end != value.data() + value.size() || parts < 1 || parts > kMost)
      return Error{"--accumulate needs a number of parts, not \"" + std::string(value) + "\"."};
    if (step.backward.size() != 1 || step.optimizer.empty()) {
      return Error{"the recorded step has " + std::to_string(step.backward.size()) +
                   " backward passes: gradients are accumulated already, or several networks are trained."};
    }
    const Result<BatchAxis>& axis = FollowBatch(step);
    if (!axis.ok()) return axis.error();
    if (axis->batch % parts != 0) {
      return Error{"the recorded batch of " + std::to_string(axis->batch) + " samples has no " +
                   std::to_string(parts) + " equal parts."};
    }
    ScaleBatch(step, *axis, axis->batch / parts, scene);
    Outcome outcome;
    outcome.extra_ns =
        static_cast<double>(parts - 1) * step.HostNs(scene.forward.front().begin, step.backward.back().end);
    outcome.time_basis =
        "host time of the recorded forward and backward, once more for each further part; kernels are not "
        "timed";
    if (parts > 1) Write(step, std::min(parts, kWritten), scene);
    scene.micro_batches = static_cast<uint32_t>(parts);
    const std::string k = std::to_string(parts);
    outcome.code = "for part in batch.chunk(" + k + "):\n    (loss_of(part) / " + k +
                   ").backward()\noptimizer.step()\noptimizer.zero_grad()";
    return outcome;
  }

 private:
  static void Write(const Step& step, int64_t parts, Scene& scene) {
    const Repeat repeat{scene.forward.front().begin, scene.backward.back().end, scene.length, parts};
    std::vector<Block> blocks;
    blocks.reserve(scene.blocks.size() * static_cast<size_t>(parts));
    for (const Block& block : scene.blocks) {
      const bool repeated = block.birth == Birth::kEachStep && repeat.Holds(block.begin);
      if (!repeated) {
        blocks.push_back(block);
        Block& moved = blocks.back();
        if (block.birth != Birth::kSetup) moved.begin = repeat.Moved(block.begin);
        // It came before the parts (a batch that is fetched ahead): its end is that of the last part.
        moved.end = repeat.Moved(block.end);
        continue;
      }
      const Position accumulated =
          block.origin == model::kNone ? kForever : step.blocks[block.origin].accumulated;
      if (accumulated < kForever)
        AddGradient(block, accumulated, repeat, blocks);
      else
        AddActivation(block, repeat, blocks);
    }
    scene.blocks = std::move(blocks);
    scene.length = repeat.new_length();
    scene.backward.back().end += repeat.more();
    for (Window& window : scene.optimizer) window = {repeat.Moved(window.begin), repeat.Moved(window.end)};
    for (Position& at : scene.empty_cache) at = repeat.Moved(at);
  }

  static void AddGradient(const Block& block, Position accumulated, const Repeat& repeat,
                          std::vector<Block>& blocks) {
    Block kept = block;
    kept.end = repeat.Moved(block.end);
    blocks.push_back(kept);
    for (int64_t part = 1; part < repeat.parts; ++part) {
      const Position behind = static_cast<Position>(part) * repeat.once();
      Block added = block;
      added.begin += behind;
      added.end = accumulated + behind + kHair;
      blocks.push_back(added);
    }
  }

  static void AddActivation(const Block& block, const Repeat& repeat, std::vector<Block>& blocks) {
    const Position next = block.end - repeat.old_length;
    for (int64_t part = 0; part < repeat.parts; ++part) {
      const Position behind = static_cast<Position>(part) * repeat.once();
      Block made = block;
      made.begin += behind;
      if (repeat.Holds(block.end))
        made.end += behind;
      else if (part + 1 == repeat.parts)
        made.end = repeat.Moved(block.end);
      else if (block.end >= repeat.old_length && repeat.Holds(next))  // until the next part overwrites it
        made.end = next + behind + repeat.once();
      else  // what the next step's begin ended is gone before the next part
        made.end = repeat.to + behind - kHair;
      blocks.push_back(made);
    }
  }
};

}  // namespace

const Lever& AccumulateLever() {
  static const Accumulate lever;
  return lever;
}

}  // namespace vramscope::whatif
