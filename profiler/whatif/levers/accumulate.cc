// SPDX-License-Identifier: Apache-2.0
// Gradient accumulation: k batches of the recorded size, one after the other, followed by one optimizer step.
// (To split the step's batch into k parts is a change of the batch size, which a re-run answers.)
//
//   recorded        zero │ forward  backward │ update  optimizer
//   accumulating    zero │ forward  backward │ forward  backward │ update  optimizer
//                          gradients are kept  ──────────────────▶
//                                              new ones end where autograd has added them
//
// At most four parts are written out: the fifth finds the allocator in the same state as the fourth. A block
// that a part leaves (batch, logits, loss) ends in the next part, at the place where it ended in the next
// step. Networks that are trained in turns, as in a GAN, repeat what comes before each optimizer step: the
// backward passes and the forward that leads to them.
#include <algorithm>
#include <charconv>
#include <utility>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/step/forward_parts.h"

namespace vramscope::whatif {
namespace {

constexpr int64_t kMost = 1 << 20;
constexpr int64_t kWritten = 4;

// "4:whole"
Result<int64_t> ParseWholeBatches(std::string_view value) {
  int64_t parts = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parts);
  const std::string_view rest(end, static_cast<size_t>(value.data() + value.size() - end));
  if (error == std::errc() && rest == ":whole" && parts >= 1 && parts <= kMost) return parts;
  return Error{"--accumulate needs a number of batches, as in 4:whole, not \"" + std::string(value) + "\"."};
}

// The parts of a step that are repeated, and where positions move when they are repeated.
class Repeats {
 public:
  Repeats(std::vector<Window> repeated, int64_t length, int64_t parts)
      : repeated_(std::move(repeated)), length_(length), parts_(parts) {}

  static constexpr size_t kNone = SIZE_MAX;
  // Index of the repeated window that contains a position; kNone: none.
  [[nodiscard]] size_t Of(Position at) const {
    for (size_t i = 0; i < repeated_.size(); ++i) {
      if (Holds(i, at)) return i;
    }
    return kNone;
  }
  [[nodiscard]] bool Holds(size_t i, Position at) const {
    return repeated_[i].begin <= at && at < repeated_[i].end;
  }
  [[nodiscard]] int64_t parts() const { return parts_; }
  [[nodiscard]] Position end(size_t i) const { return repeated_[i].end; }
  // The number of events by which the given part of the i-th window comes later than the recorded window.
  [[nodiscard]] int64_t Behind(size_t i, int64_t part) const { return BeforeIt(i) + part * Once(i); }
  // New position of a recorded position: in the first or in the last part if it is repeated.
  [[nodiscard]] Position InFirst(Position at) const { return Moved(at, 0); }
  [[nodiscard]] Position InLast(Position at) const { return Moved(at, parts_ - 1); }
  [[nodiscard]] int64_t length() const { return length_; }
  [[nodiscard]] int64_t new_length() const { return InFirst(length_).event; }

 private:
  [[nodiscard]] int64_t Once(size_t i) const { return repeated_[i].end.event - repeated_[i].begin.event; }
  // Events added before the i-th window; for the index after the last: in total.
  [[nodiscard]] int64_t BeforeIt(size_t i) const {
    int64_t more = 0;
    for (size_t before = 0; before < i; ++before) more += (parts_ - 1) * Once(before);
    return more;
  }
  // A position in the next step is moved like one in its first part.
  [[nodiscard]] Position Moved(Position at, int64_t part) const {
    if (at >= kForever) return at;
    if (at > length_) return Moved(at - length_, 0) + new_length();
    size_t ended = 0;
    while (ended < repeated_.size() && repeated_[ended].end <= at) ++ended;
    return at + (Of(at) == kNone ? BeforeIt(ended) : Behind(ended, part));
  }

  std::vector<Window> repeated_;  // in order
  int64_t length_;                // of the recorded step
  int64_t parts_;
};

class Accumulate final : public Lever {
 public:
  const LeverInfo& info() const override { return *FindLeverInfo("accumulate"); }

  Status Check(std::string_view value) const override {
    const auto parsed = ParseWholeBatches(value);
    return parsed.ok() ? Status() : parsed.error();
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    const int64_t parts = VRAMSCOPE_TRY(ParseWholeBatches(value));
    if (std::string reason = WhyNotRepeated(step); !reason.empty()) return Error{std::move(reason)};
    Outcome outcome;
    const std::vector<Window> repeated = Repeated(scene);
    for (const Window& one : repeated)
      outcome.extra_ns += static_cast<double>(parts - 1) * step.HostNs(one.begin, one.end);
    outcome.time_basis =
        "host time of the recorded forward and backward pass, once per additional batch; kernels are not "
        "timed";
    if (parts > 1) Write(step, std::min(parts, kWritten), scene);
    scene.micro_batches = static_cast<uint32_t>(parts);
    const std::string k = std::to_string(parts);
    outcome.code = "for batch in batches[:" + k + "]:\n    (loss_of(batch) / " + k +
                   ").backward()\noptimizer.step()\noptimizer.zero_grad()";
    if (repeated.size() > 1)
      outcome.notes.push_back(
          "the step has " + std::to_string(repeated.size()) +
          " optimizer steps with backward passes before them: each one accumulates over " + k + " batches");
    else if (scene.backward.size() > 1)
      outcome.notes.push_back("the step has " + std::to_string(scene.backward.size()) +
                              " backward passes for one optimizer step: each one runs " + k + " times");
    return outcome;
  }

 private:
  // Returns one sentence, or "" if forward and backward can be repeated for one optimizer step.
  static std::string WhyNotRepeated(const Step& step) {
    if (step.backward.empty() || step.optimizer.empty() ||
        step.optimizer.back().begin < step.backward.back().end)
      return "the recorded step has no backward pass with an optimizer step after it.";
    const std::vector<Window> repeated = Repeated(ForwardParts(step), step.backward, step.optimizer);
    for (const Window& one : repeated) {
      const auto leaves = [&](const Node& node) {
        return node.op != model::kNone && one.begin <= node.made && node.made < one.end &&
               node.begin >= one.end && Within(repeated, node.begin);
      };
      if (std::any_of(step.nodes.begin(), step.nodes.end(), leaves))
        return "a backward pass of the recorded step uses results from before another optimizer step. With "
               "several batches, the program keeps or recomputes these results, and the trace does not show "
               "which.";
    }
    return "";
  }

  // The windows that are repeated for one optimizer step, or for several in a row: the backward passes before
  // it, and the forward that leads to them.
  static std::vector<Window> Repeated(const std::vector<Window>& forward, const std::vector<Window>& backward,
                                      const std::vector<Window>& optimizer) {
    std::vector<Window> repeated;
    for (size_t i = 0; i < backward.size(); ++i) {
      const bool stepped = std::any_of(optimizer.begin(), optimizer.end(), [&](const Window& window) {
        return i > 0 && backward[i - 1].end <= window.begin && window.begin < backward[i].begin;
      });
      if (repeated.empty() || stepped)
        repeated.push_back({forward[i].begin, backward[i].end});
      else
        repeated.back().end = std::max(repeated.back().end, backward[i].end);
    }
    return repeated;
  }
  static std::vector<Window> Repeated(const Scene& scene) {
    return Repeated(scene.forward, scene.backward, scene.optimizer);
  }

  static void Write(const Step& step, int64_t parts, Scene& scene) {
    const Repeats repeats(Repeated(scene), scene.length, parts);
    std::vector<Block> blocks;
    blocks.reserve(scene.blocks.size() * static_cast<size_t>(parts));
    for (const Block& block : scene.blocks) {
      const size_t part = block.birth == Birth::kEachStep ? repeats.Of(block.begin) : Repeats::kNone;
      if (part == Repeats::kNone) {
        blocks.push_back(block);
        Block& moved = blocks.back();
        if (block.birth != Birth::kSetup) moved.begin = repeats.InFirst(block.begin);
        // A block from before the parts (a prefetched batch) ends with the last part.
        moved.end = block.birth == Birth::kOnce ? repeats.InFirst(block.end) : repeats.InLast(block.end);
        continue;
      }
      // Each part has its own batch, so a gradient of the batch is not accumulated.
      const bool added = block.origin != model::kNone && step.blocks[block.origin].leaf == model::kNone;
      const Position accumulated = added ? step.blocks[block.origin].accumulated : kForever;
      if (accumulated < kForever)
        AddGradient(block, accumulated, IsCopiedForLeaf(step, block), part, repeats, blocks);
      else
        AddActivation(block, part, repeats, scene.blocks, blocks);
    }
    scene.blocks = std::move(blocks);
    scene.length = repeats.new_length();
    for (Window& window : scene.forward)
      window = {repeats.InFirst(window.begin), repeats.InFirst(window.end)};
    for (Window& window : scene.backward)
      window = {repeats.InFirst(window.begin), repeats.InLast(window.end)};
    for (Window& window : scene.optimizer)
      window = {repeats.InFirst(window.begin), repeats.InFirst(window.end)};
    for (Position& at : scene.empty_cache) at = repeats.InLast(at);
    for (const Position at : step.cache_emptied) scene.empty_cache.push_back(repeats.InFirst(at));
  }

  // If a gradient's strides differ from its parameter's, the first one is copied; others are added to that
  // copy (AccumulateGrad::accumulateGrad in torch/csrc/autograd/functions/accumulate_grad.h).
  static bool IsCopiedForLeaf(const Step& step, const Block& block) {
    const OpIndex op = step.blocks[block.origin].op;
    const NodeIndex node = op == model::kNone ? NodeIndex() : step.ops[op].node;
    return node != model::kNone && step.Text(step.nodes[node].name) == "torch::autograd::AccumulateGrad";
  }

  static void AddGradient(const Block& block, Position accumulated, bool copied, size_t where,
                          const Repeats& repeats, std::vector<Block>& blocks) {
    Block kept = block;
    kept.begin = repeats.InFirst(block.begin);
    kept.end = repeats.Holds(where, block.end) ? repeats.InLast(block.end) : repeats.InFirst(block.end);
    blocks.push_back(kept);
    for (int64_t part = 1; !copied && part < repeats.parts(); ++part) {
      const int64_t behind = repeats.Behind(where, part);
      Block added = block;
      added.begin += behind;
      added.end = After(accumulated + behind);
      blocks.push_back(added);
    }
  }

  static void AddActivation(const Block& block, size_t where, const Repeats& repeats,
                            const std::vector<Block>& recorded, std::vector<Block>& blocks) {
    // Few blocks outlive the pass; for each of these, all blocks are visited.
    const bool within = repeats.Holds(where, block.end);
    const Position next = within ? kForever : NamedAnew(block, where, repeats, recorded);
    for (int64_t part = 0; part < repeats.parts(); ++part) {
      const int64_t behind = repeats.Behind(where, part);
      Block made = block;
      made.begin += behind;
      if (within)
        made.end += behind;
      else if (part + 1 == repeats.parts())
        made.end = repeats.InFirst(block.end);
      else if (next < kForever)  // until the next part overwrites it
        made.end = next + repeats.Behind(where, part + 1);
      else  // what ended after the pass ends before the next part
        made.end = Before(repeats.end(where) + behind);
      blocks.push_back(made);
    }
  }

  // The position, within the pass that allocated the block, where its name is reassigned. This is where the
  // pass frees what a previous step or pass left of the same kind. kForever: none.
  static Position NamedAnew(const Block& block, size_t where, const Repeats& repeats,
                            const std::vector<Block>& recorded) {
    const auto ended_here = [&](const Block& left) {
      const bool in_next = left.end >= repeats.length();
      const Position end = in_next ? left.end - repeats.length() : left.end;
      const bool from_outside = in_next || !repeats.Holds(where, left.begin);
      return left.birth == Birth::kEachStep && from_outside && repeats.Holds(where, end) ? end : kForever;
    };
    if (repeats.Of(InItsStep(block.end, repeats.length())) == Repeats::kNone) return kForever;
    if (const Position own = ended_here(block); own < kForever) return own;
    for (const Block& left : recorded) {
      if (left.bytes != block.bytes || left.category != block.category || left.stream != block.stream)
        continue;
      if (const Position end = ended_here(left); end < kForever) return end;
    }
    return kForever;
  }
};

}  // namespace

const Lever& AccumulateLever() {
  static const Accumulate lever;
  return lever;
}

}  // namespace vramscope::whatif
