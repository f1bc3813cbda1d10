// SPDX-License-Identifier: Apache-2.0
// Activation checkpointing, torch.utils.checkpoint(use_reentrant=False): what a segment's nodes would keep is
// thrown away and computed again when backward first asks for it.
//
//   recorded     │ segment's forward ├──kept────────────────────────────────────│ its nodes ├ released
//   checkpointed │ segment's forward ├ freed at its last use          recompute │ its nodes ├ released
//                  input ├──kept──────────────────────────────────────────────────────────┤
//
// The recomputation stops at the last tensor that the segment's nodes kept (early stop); what it computed
// beside those is freed there. PyTorch: torch/utils/checkpoint.py,
// _checkpoint_without_reentrant_generator, 2.1 to 2.15.
//
// With operators whose results are kept (create_selective_checkpoint_contexts, 2.4 to 2.15), these results
// stay until the recomputation takes them in the place of computing them, and live on as if it had; one that
// it does not come to, until the segment's nodes have let go.
#include <algorithm>

#include "profiler/whatif/kept_ops.h"
#include "profiler/whatif/last_uses.h"
#include "profiler/whatif/lever.h"
#include "profiler/whatif/segments.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr Position kHair = 1e-6;
constexpr Position kRecomputed = 0.8;  // between the begin of a node and its first event
constexpr Position kUnwound = 0.9;
constexpr Position kAtOnce = 1.5;  // a free that follows a release directly

// One checkpointed call.
struct Segment {
  Position begin = 0;
  Position end = 0;
  Position last_save = kBefore;
  Position recompute = kForever;  // begin of the first of its nodes that keeps something
  Position released = kBefore;    // when the last of them let go

  [[nodiscard]] bool Holds(Position at) const { return begin <= at && at < end; }
  // Where a moment of the forward is in the recomputation.
  [[nodiscard]] Position Again(Position at) const {
    return recompute + kHair + kRecomputed * (at - begin) / (end - begin);
  }
};

// What is known of one block's references.
struct Kept {
  Position inside = kBefore;    // last release of what segments' nodes kept of it
  Position unpacked = kBefore;  // the end of the last of these nodes' own work: then what was made again goes
  Position outside = kBefore;   // last release of other nodes'
  uint32_t segment = kNone;     // a segment whose node kept it
};

class Checkpointer {
 public:
  // `kept_ops`: whose results are not computed again.
  Checkpointer(const Step& step, const std::vector<uint32_t>& calls, const std::vector<uint32_t>& kept_ops)
      : step_(step), uses_(LastUsesOf(step)), kept_ops_(kept_ops), cached_(step.blocks.size(), false) {
    for (const uint32_t call : calls) segments_.push_back({step.modules[call].begin, step.modules[call].end});
    FindSaves();
    for (const uint32_t index : kept_ops) {
      const Op& op = step.ops[index];
      for (uint32_t i = 0; i < op.output_count; ++i) {
        const uint32_t block = step.operands[op.first_output + i].block;
        if (block != kNone && step.blocks[block].begin >= op.begin) cached_[block] = true;
      }
    }
  }

  [[nodiscard]] bool any() const {
    return std::any_of(segments_.begin(), segments_.end(),
                       [](const Segment& s) { return s.recompute < kForever; });
  }

  void Change(Scene& scene) const {
    std::vector<Block> copies;
    for (Block& block : scene.blocks) {
      if (block.birth != Birth::kEachStep || block.origin == kNone) continue;
      const uint32_t home = SegmentAt(step_.blocks[block.origin].begin);
      // What gathers parameters for backward is there by then: fully_shard asks for it before the nodes run.
      const bool gathered = block.category == classify::Category::kCommunication;
      const bool again = home != kNone && segments_[home].recompute < kForever && !gathered;
      if (again && cached_[block.origin]) {
        Position end = segments_[home].released;
        if (step_.blocks[block.origin].begin <= segments_[home].last_save) end = EndOfCopy(block, home);
        Drop(block, home);
        block.end = std::max(block.end, end);
        continue;
      }
      if (again) Recompute(block, home, copies);
      Drop(block, home);
    }
    scene.blocks.insert(scene.blocks.end(), copies.begin(), copies.end());
    for (const Segment& segment : segments_) {
      if (segment.recompute < kForever)
        scene.again.push_back({segment.begin, segment.end, segment.recompute, segment.released});
    }
  }

  // Host time of what is computed again.
  [[nodiscard]] double RecomputedNs() const {
    double ns = 0;
    for (const Segment& segment : segments_) {
      if (segment.recompute < kForever) ns += step_.HostNs(segment.begin, segment.last_save);
    }
    for (const uint32_t index : kept_ops_) {
      const Op& op = step_.ops[index];
      const uint32_t home = SegmentAt(op.begin);
      if (home != kNone && segments_[home].recompute < kForever && op.begin <= segments_[home].last_save)
        ns -= step_.HostNs(op.begin, op.end);
    }
    return std::max(ns, 0.0);
  }

 private:
  [[nodiscard]] uint32_t SegmentAt(Position at) const {
    const auto behind =
        std::upper_bound(segments_.begin(), segments_.end(), at,
                         [](Position p, const Segment& segment) { return p < segment.begin; });
    if (behind == segments_.begin()) return kNone;
    const auto place = static_cast<uint32_t>(behind - segments_.begin() - 1);
    return segments_[place].Holds(at) ? place : kNone;
  }

  void FindSaves() {
    kept_.resize(step_.blocks.size());
    for (const Saved& saved : step_.saved) {
      Kept& kept = kept_[saved.block];
      const uint32_t place = SegmentAt(saved.at);
      if (place == kNone || saved.released >= kForever) {
        kept.outside = std::max(kept.outside, saved.released);
        continue;
      }
      Segment& segment = segments_[place];
      kept.inside = std::max(kept.inside, saved.released);
      kept.unpacked = std::max(kept.unpacked, uses_.WorkEnd(saved));
      kept.segment = place;
      if (step_.blocks[saved.block].begin < segment.begin) given_.emplace_back(saved.block, place);
      segment.last_save = std::max(segment.last_save, saved.at);
      segment.released = std::max(segment.released, saved.released);
      if (saved.node != kNone) segment.recompute = std::min(segment.recompute, step_.nodes[saved.node].begin);
    }
    // What a call is given is held until it was made again, whether or not a node keeps it.
    for (const Operand& operand : step_.operands) {
      const Op& op = step_.ops[operand.op];
      const uint32_t place = operand.block == kNone || op.node != kNone ? kNone : SegmentAt(op.begin);
      const Position born = place == kNone ? kBefore : step_.blocks[operand.block].begin;
      if (born != kBefore && born < segments_[place].begin) given_.emplace_back(operand.block, place);
    }
    std::sort(given_.begin(), given_.end());
    given_.erase(std::unique(given_.begin(), given_.end()), given_.end());
  }

  // Until when the block is alive that is made again.
  [[nodiscard]] Position EndOfCopy(const Block& block, uint32_t place) const {
    const Segment& segment = segments_[place];
    const StepBlock& recorded = step_.blocks[block.origin];
    const Kept& kept = kept_[block.origin];
    const Position unwound = segment.recompute + kUnwound;
    if (kept.inside > kBefore && kept.segment == place) return std::max(kept.unpacked - kHair, unwound);
    return recorded.end < segment.last_save ? segment.Again(recorded.end) : unwound;
  }

  void Recompute(const Block& block, uint32_t place, std::vector<Block>& copies) const {
    const StepBlock& recorded = step_.blocks[block.origin];
    if (recorded.begin > segments_[place].last_save) return;
    Block copy = block;
    copy.begin = segments_[place].Again(recorded.begin);
    copy.end = EndOfCopy(block, place);
    copies.push_back(copy);
  }

  // The block itself: no longer kept by the nodes of segments, but by the segments that it goes into.
  void Drop(Block& block, uint32_t home) const {
    const StepBlock& recorded = step_.blocks[block.origin];
    const Kept& kept = kept_[block.origin];
    const Position given = GivenUntil(block.origin, home);
    const bool longer =  // somebody else held it
        recorded.end > kept.inside + kAtOnce && recorded.end > kept.outside + kAtOnce;
    if (kept.inside != kBefore && !longer) {
      const Position used = uses_.held[block.origin];
      block.end = std::min(block.end, std::max({used, kept.outside, block.begin, given}) + kHair);
    }
    if (given != kBefore) block.end = std::max(block.end, given + kHair);
  }

  // Until the last of the segments that were given the block has been made again.
  [[nodiscard]] Position GivenUntil(uint32_t block, uint32_t home) const {
    Position until = kBefore;
    for (auto it = std::lower_bound(given_.begin(), given_.end(), std::pair(block, uint32_t{0}));
         it != given_.end() && it->first == block; ++it) {
      if (it->second != home && segments_[it->second].recompute < kForever)
        until = std::max(until, segments_[it->second].released);
    }
    return until;
  }

  const Step& step_;
  const LastUses& uses_;
  const std::vector<uint32_t>& kept_ops_;
  std::vector<bool> cached_;  // by block: what a kept operator handed out
  std::vector<Segment> segments_;
  std::vector<Kept> kept_;
  std::vector<std::pair<uint32_t, uint32_t>> given_;  // (block, segment) that it goes into, sorted
};

class Checkpoint final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {
        "checkpoint", "all | every:K | PATHS, also with ,ops:matmul+attention",
        "activations of these modules are computed again in backward",
        "modules, operators and saved tensors (a deep step of a Python program)"};
    return kInfo;
  }

  // Families alone: which of their members are worth it is for a search of its own.
  std::vector<std::string> Settings(const Step& step) const override {
    if (step.backward.size() != 1) return {};
    return CheckpointFamilies(step);
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    if (step.backward.size() != 1) {
      return Error{"the recorded step has " + std::to_string(step.backward.size()) +
                   " backward passes; checkpointing is predicted for steps with one."};
    }
    const Result<CheckpointChoice> choice = ParseCheckpoint(value);
    if (!choice.ok()) return choice.error();
    const auto calls = ChooseSegments(step, choice->modules);
    if (!calls.ok()) return calls.error();
    const Result<std::vector<uint32_t>> kept_ops = FindKeptOps(step, choice->operators);
    if (!kept_ops.ok()) return kept_ops.error();
    const Checkpointer checkpointer(step, *calls, *kept_ops);
    if (!checkpointer.any())
      return Error{"autograd keeps nothing of these modules that could be computed again."};
    checkpointer.Change(scene);
    Outcome outcome;
    outcome.extra_ns = checkpointer.RecomputedNs();
    outcome.time_basis = "host time of the recomputed calls in the recorded step; kernels are not timed";
    const std::string number =
        std::to_string(calls->size()) + (calls->size() == 1 ? " call a step" : " calls a step");
    if (choice->operators.empty()) {
      outcome.code =
          "x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)    # instead of x = "
          "block(x), " +
          number;
    } else {
      outcome.code =
          "keep = functools.partial(create_selective_checkpoint_contexts, [" + KeptOpsCode(step, *kept_ops) +
          "])    # both of torch.utils.checkpoint\n"
          "x = checkpoint(block, x, use_reentrant=False, context_fn=keep)    # instead of x = block(x), " +
          number;
    }
    return outcome;
  }
};

}  // namespace

const Lever& CheckpointLever() {
  static const Checkpoint lever;
  return lever;
}

}  // namespace vramscope::whatif
