// SPDX-License-Identifier: Apache-2.0
// Activation checkpointing, torch.utils.checkpoint(use_reentrant=False): tensors that a segment's nodes would
// save are freed and recomputed when backward first needs one of them.
//
//   recorded     │ segment's forward ├──kept────────────────────────────────────│ its nodes ├ released
//   checkpointed │ segment's forward ├ freed at its last use          recompute │ its nodes ├ released
//                  input ├──kept──────────────────────────────────────────────────────────┤
//
// The recomputation stops at the last tensor that the segment's nodes saved (early stop). Results of the
// recomputation that no node needs are freed there at the latest. PyTorch: torch/utils/checkpoint.py,
// _checkpoint_without_reentrant_generator, 2.1 to 2.15.
//
// Segments may be nested ("Nestable Checkpoint" in that file). Saved tensors belong to the innermost segment
// alone, and a segment's inputs are kept by the segment around it. So the outer segment is recomputed first,
// with the inner ones checkpointed as in forward, and this restores their inputs. Each inner segment takes
// its input from there when backward reaches it.
//
//   outer    recompute │ ├─into a─────────────────────────────────────────┤
//                      │   ├─into b─────────────────┤
//   inner b                        recompute │ nodes │
//   inner a                                                recompute │ nodes │
//
// A module may keep a result until its call in the next step, such as a recurrent state. It then keeps the
// most recently recomputed one and its graph, so tensors that the nodes of this graph saved stay until then
// (graph_behind.h).
//
// With selective checkpointing (create_selective_checkpoint_contexts, 2.4 to 2.15), the results of chosen
// operators are kept. They stay until the recomputation uses them instead of computing them, and then live on
// as if recomputed. A result that the recomputation does not reach stays until the segment's nodes have
// released what they saved. Not supported in nested segments.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "profiler/whatif/lifetimes/last_uses.h"
#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

class Checkpointer {
 public:
  // `calls`: in order. `kept_ops`: operators whose results are not recomputed.
  // Both step and kept_ops must outlive this object.
  Checkpointer(const Step& step, const std::vector<CallIndex>& calls, const std::vector<OpIndex>& kept_ops);

  // True if there is anything to recompute.
  [[nodiscard]] bool any() const;
  // True if a segment contains another one.
  [[nodiscard]] bool nested() const { return levels_ > 1; }
  void Change(Scene& scene) const;
  // Host time of the recomputation.
  [[nodiscard]] double RecomputedNs() const;

 private:
  struct Segment;
  using SegmentIndex = Index<Segment>;
  // One checkpointed call.
  struct Segment {
    CallIndex call;
    Position begin = 0;
    Position end = 0;
    SegmentIndex parent;  // the enclosing segment
    uint32_t depth = 0;   // number of enclosing segments
    Position last_save =
        kBefore;  // of its own: saves by nodes in no inner segment, and inputs of inner segments
    Position recompute = kForever;  // start of its first node that saved something
    Position released = kBefore;    // when the last of its nodes has released what it saved
  };
  // Blocks that modules keep from one step to the next. `until`: when a block is released, by (block, segment
  // that recomputes it). `replaced`: when the recomputed block replaces forward's block, by block.
  struct Left {
    std::map<std::pair<BlockIndex, SegmentIndex>, Position> until;
    std::map<BlockIndex, Position> replaced;
    void Add(BlockIndex block, SegmentIndex segment, Position to) {
      Position& known = until.try_emplace({block, segment}, kBefore).first->second;
      known = std::max(known, to);
    }
  };
  // By segment: blocks whose graphs stay, and the time until which they stay.
  using Graphs = std::map<SegmentIndex, std::vector<std::pair<BlockIndex, Position>>>;
  // When the references to one block are released.
  struct Kept {
    Position inside = kBefore;   // last release by nodes of segments
    Position outside = kBefore;  // last release by other nodes
  };

  void FindSegments(const std::vector<CallIndex>& calls);
  void FindSaves();
  void FindGiven();
  // The innermost segment at a position; none outside all segments.
  [[nodiscard]] SegmentIndex SegmentAt(Position at) const;
  [[nodiscard]] bool IsWithin(SegmentIndex segment, SegmentIndex around) const;
  [[nodiscard]] bool IsMadeAgain(SegmentIndex segment) const {
    return segments_[segment].recompute < kForever;
  }
  // Return where a moment of forward lies in the segment's recomputation, and where the recomputation ends.
  [[nodiscard]] Position Again(const Segment& segment, Position at) const;
  [[nodiscard]] Position Unwound(const Segment& segment) const;

  [[nodiscard]] Left FindLeft(const Scene& scene) const;
  void FindStates(const Scene& scene, Left& left, Graphs& graphs) const;
  // Extend the lives of blocks that `left` keeps: Leave() of a recomputed copy, LeaveRecorded() of forward's
  // block.
  static void Leave(const Left& left, SegmentIndex place, Block& copy);
  void LeaveRecorded(const Left& left, SegmentIndex home, Block& block) const;
  // Returns when a block that is recomputed with the segment is freed.
  [[nodiscard]] Position EndOfCopy(BlockIndex block, SegmentIndex segment) const;
  // True for a block that a kept operator allocates and frees itself, such as a workspace. It is not
  // recomputed.
  [[nodiscard]] bool IsInnerOfKept(BlockIndex block) const;
  void Recompute(const Block& block, SegmentIndex home, const Left& left, std::vector<Block>& copies) const;
  // Shortens the block's own life: nodes of segments no longer save it, but segments keep it as their input.
  void Drop(Block& block, SegmentIndex home) const;
  void GatherWithin(Scene& scene) const;
  void GatherEarlier(const Segment& segment, const StepBlock& forward, bool together, Block& block) const;
  // Returns when the last outermost segment that has the block as input releases it.
  [[nodiscard]] Position GivenUntil(BlockIndex block, SegmentIndex home) const;
  // Returns when the segments inside `around` no longer need the block as input: they have been recomputed,
  // and their nodes are done with it.
  [[nodiscard]] Position GivenWithin(BlockIndex block, SegmentIndex around) const;

  const Step& step_;
  const LastUses& uses_;
  const std::vector<OpIndex>& kept_ops_;
  uint32_t levels_ = 1;
  std::vector<bool> cached_;  // by block: a result of a kept operator
  Indexed<Segment> segments_;
  std::vector<Kept> kept_;
  // (block, segment whose node saves it): the end of the last of these nodes' own work, when the recomputed
  // block is freed.
  std::map<std::pair<BlockIndex, SegmentIndex>, Position> unpacked_;
  std::vector<std::pair<BlockIndex, SegmentIndex>> given_;  // (block, segment that has it as input), sorted
};

}  // namespace vramscope::whatif
