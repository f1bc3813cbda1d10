// SPDX-License-Identifier: Apache-2.0
// Applies activation checkpointing, torch.utils.checkpoint(use_reentrant=False), to a scene. A segment is a
// call of a module that is checkpointed. Tensors that the autograd nodes of a segment would save are freed in
// forward. They are recomputed when backward needs the first of them.
//
//   recorded     │ segment's forward ├──kept────────────────────────────────────│ its nodes ├ released
//   checkpointed │ segment's forward ├ freed at its last use          recompute │ its nodes ├ released
//                  input ├──kept──────────────────────────────────────────────────────────┤
//
// The recomputation stops at the last tensor that the segment's nodes saved (early stop). Results of the
// recomputation that no node needs are freed at the end of the recomputation or earlier. PyTorch:
// torch/utils/checkpoint.py, _checkpoint_without_reentrant_generator, 2.1 to 2.15.
//
// Segments may be nested ("Nestable Checkpoint" in torch/utils/checkpoint.py). A saved tensor belongs to the
// innermost segment. The enclosing segment keeps the inputs of an inner segment. The outer segment is
// recomputed first; during this recomputation, the inner segments are checkpointed again.
//
//   outer    recompute │ ├─into a─────────────────────────────────────────┤
//                      │   ├─into b─────────────────┤
//   inner b                        recompute │ nodes │
//   inner a                                                recompute │ nodes │
//
// A module may keep a result until its call in the next step (a recurrent state). The module then keeps the
// recomputed result, together with the autograd graph of this result (graph_behind.h).
//
// Selective checkpointing (create_selective_checkpoint_contexts, 2.4 to 2.15) keeps the results of chosen
// operators. The recomputation uses these results and does not compute them. Afterwards they are freed at the
// same time as a recomputed result. If the recomputation stops before it uses a result, the result is freed
// when the segment's nodes have released their saved tensors. Selective checkpointing is not supported in
// nested segments.
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
  // `calls`: the checkpointed calls of modules, in order. `kept_ops`: the operators whose results are kept.
  // `step` and `kept_ops` must outlive this object.
  Checkpointer(const Step& step, const std::vector<CallIndex>& calls, const std::vector<OpIndex>& kept_ops);

  // True if the recomputation of at least one segment is needed.
  [[nodiscard]] bool any() const;
  // True if a segment contains another segment.
  [[nodiscard]] bool nested() const { return levels_ > 1; }
  // Applies the checkpointing to `scene`.
  void Change(Scene& scene) const;
  // Returns the time of all recomputations on the host, in nanoseconds.
  [[nodiscard]] double RecomputedNs() const;

 private:
  struct Segment;
  using SegmentIndex = Index<Segment>;
  // One checkpointed call.
  struct Segment {
    CallIndex call;
    Position begin = 0;
    Position end = 0;
    SegmentIndex parent;            // the enclosing segment
    uint32_t depth = 0;             // number of enclosing segments
    Position last_save = kBefore;   // last save in forward, including the inputs of inner segments
    Position recompute = kForever;  // when backward first needs a saved tensor of this segment
    Position released = kBefore;    // when the segment's last node has released its saved tensors
  };
  // Blocks that modules keep until the next step. `until`: (block, segment that recomputes the block) -> its
  // release. `replaced`: block -> when the recomputed block replaces the block that forward made.
  struct Left {
    std::map<std::pair<BlockIndex, SegmentIndex>, Position> until;
    std::map<BlockIndex, Position> replaced;
    void Add(BlockIndex block, SegmentIndex segment, Position to) {
      Position& known = until.try_emplace({block, segment}, kBefore).first->second;
      known = std::max(known, to);
    }
  };
  // Segment -> the blocks whose autograd graphs modules keep, and until when.
  using Graphs = std::map<SegmentIndex, std::vector<std::pair<BlockIndex, Position>>>;
  // When autograd releases its references to one block.
  struct Kept {
    Position inside = kBefore;   // last release by nodes of segments
    Position outside = kBefore;  // last release by other nodes
  };

  void FindSegments(const std::vector<CallIndex>& calls);
  void FindSaves();
  void FindGiven();
  // Returns the innermost segment that contains a position; no segment if the position is outside all
  // segments.
  [[nodiscard]] SegmentIndex SegmentAt(Position at) const;
  [[nodiscard]] bool IsWithin(SegmentIndex segment, SegmentIndex around) const;
  [[nodiscard]] bool IsMadeAgain(SegmentIndex segment) const {
    return segments_[segment].recompute < kForever;
  }
  // Again: returns the position in the segment's recomputation that corresponds to `at` in forward. Unwound:
  // returns the end of the recomputation.
  [[nodiscard]] Position Again(const Segment& segment, Position at) const;
  [[nodiscard]] Position Unwound(const Segment& segment) const;

  [[nodiscard]] Left FindLeft(const Scene& scene) const;
  void FindStates(const Scene& scene, Left& left, Graphs& graphs) const;
  // Extend the lifetimes of blocks that `left` contains. Leave: a recomputed copy. LeaveRecorded: a block of
  // forward.
  static void Leave(const Left& left, SegmentIndex place, Block& copy);
  void LeaveRecorded(const Left& left, SegmentIndex home, Block& block) const;
  // Returns when the copy of `block` that the segment's recomputation makes is freed.
  [[nodiscard]] Position EndOfCopy(BlockIndex block, SegmentIndex segment) const;
  // True if a kept operator allocates the block and frees it before its end, such as a workspace. The
  // recomputation does not allocate such a block.
  [[nodiscard]] bool IsInnerOfKept(BlockIndex block) const;
  void Recompute(const Block& block, SegmentIndex home, const Left& left, std::vector<Block>& copies) const;
  // Shortens the block's lifetime to the time for which segments need the block as their input.
  void Drop(Block& block, SegmentIndex home) const;
  void GatherWithin(Scene& scene) const;
  void GatherEarlier(const Segment& segment, const StepBlock& forward, bool together, Block& block) const;
  // Returns when the last outermost segment that has the block as input releases the block.
  [[nodiscard]] Position GivenUntil(BlockIndex block, SegmentIndex home) const;
  // Returns when the segments inside `around` no longer need the block as input.
  [[nodiscard]] Position GivenWithin(BlockIndex block, SegmentIndex around) const;

  const Step& step_;
  const LastUses& uses_;
  const std::vector<OpIndex>& kept_ops_;
  uint32_t levels_ = 1;
  std::vector<bool> cached_;  // for each block: true if it is a result of a kept operator
  Indexed<Segment> segments_;
  std::vector<Kept> kept_;
  // (block, segment) -> when the last node of the segment that saves the block has finished its work. The
  // recomputed block is freed at this time.
  std::map<std::pair<BlockIndex, SegmentIndex>, Position> unpacked_;
  std::vector<std::pair<BlockIndex, SegmentIndex>> given_;  // (block, segment that has it as input), sorted
};

}  // namespace vramscope::whatif
