// SPDX-License-Identifier: Apache-2.0
// Activation checkpointing, torch.utils.checkpoint(use_reentrant=False). Tensors that a segment's nodes would
// save are freed, and recomputed when backward first needs one.
//
//   recorded     │ segment's forward ├──kept────────────────────────────────────│ its nodes ├ released
//   checkpointed │ segment's forward ├ freed at its last use          recompute │ its nodes ├ released
//                  input ├──kept──────────────────────────────────────────────────────────┤
//
// The recomputation stops at the last tensor that the segment's nodes saved (early stop). Unneeded results of
// the recomputation are freed there at the latest. PyTorch: torch/utils/checkpoint.py,
// _checkpoint_without_reentrant_generator, 2.1 to 2.15.
//
// Segments may be nested ("Nestable Checkpoint" in that file). A saved tensor belongs to the innermost
// segment. The enclosing segment keeps an inner segment's inputs. The outer segment is recomputed first, with
// the inner ones checkpointed.
//
//   outer    recompute │ ├─into a─────────────────────────────────────────┤
//                      │   ├─into b─────────────────┤
//   inner b                        recompute │ nodes │
//   inner a                                                recompute │ nodes │
//
// A module may keep a result until its call in the next step (a recurrent state). The module then keeps the
// recomputed result with its graph (graph_behind.h).
//
// Selective checkpointing (create_selective_checkpoint_contexts, 2.4 to 2.15) keeps results of chosen
// operators. The recomputation uses them instead of computing them. These results then live on as if
// recomputed. A result that the recomputation does not reach stays until the segment's nodes have released
// what they saved. Not supported in nested segments.
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
  // `calls`: in order. `kept_ops`: operators whose results are kept. Both step and kept_ops must outlive this
  // object.
  Checkpointer(const Step& step, const std::vector<CallIndex>& calls, const std::vector<OpIndex>& kept_ops);

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
    SegmentIndex parent;            // the enclosing segment
    uint32_t depth = 0;             // number of enclosing segments
    Position last_save = kBefore;   // by nodes in no inner segment; inner segments' inputs count too
    Position recompute = kForever;  // start of its first node that saved something
    Position released = kBefore;    // its last node has released what it saved
  };
  // Blocks that modules keep until the next step. `until`: the release, by (block, segment that recomputes
  // it). `replaced`: when the recomputed block replaces forward's, by block.
  struct Left {
    std::map<std::pair<BlockIndex, SegmentIndex>, Position> until;
    std::map<BlockIndex, Position> replaced;
    void Add(BlockIndex block, SegmentIndex segment, Position to) {
      Position& known = until.try_emplace({block, segment}, kBefore).first->second;
      known = std::max(known, to);
    }
  };
  // By segment: blocks whose graphs stay, and until when.
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
  // Again: where a moment of forward lies in the segment's recomputation. Unwound: where the recomputation
  // ends.
  [[nodiscard]] Position Again(const Segment& segment, Position at) const;
  [[nodiscard]] Position Unwound(const Segment& segment) const;

  [[nodiscard]] Left FindLeft(const Scene& scene) const;
  void FindStates(const Scene& scene, Left& left, Graphs& graphs) const;
  // Extend lives of blocks that `left` keeps: a recomputed copy, or forward's block.
  static void Leave(const Left& left, SegmentIndex place, Block& copy);
  void LeaveRecorded(const Left& left, SegmentIndex home, Block& block) const;
  // When a block recomputed with the segment is freed.
  [[nodiscard]] Position EndOfCopy(BlockIndex block, SegmentIndex segment) const;
  // True for a block that a kept operator allocates and frees itself, such as a workspace. Such a block is
  // not recomputed.
  [[nodiscard]] bool IsInnerOfKept(BlockIndex block) const;
  void Recompute(const Block& block, SegmentIndex home, const Left& left, std::vector<Block>& copies) const;
  // Shortens the block's life: segments keep it only as their input.
  void Drop(Block& block, SegmentIndex home) const;
  void GatherWithin(Scene& scene) const;
  void GatherEarlier(const Segment& segment, const StepBlock& forward, bool together, Block& block) const;
  // When the last outermost segment with the block as input releases it.
  [[nodiscard]] Position GivenUntil(BlockIndex block, SegmentIndex home) const;
  // When the segments inside `around` no longer need the block as input.
  [[nodiscard]] Position GivenWithin(BlockIndex block, SegmentIndex around) const;

  const Step& step_;
  const LastUses& uses_;
  const std::vector<OpIndex>& kept_ops_;
  uint32_t levels_ = 1;
  std::vector<bool> cached_;  // by block: a result of a kept operator
  Indexed<Segment> segments_;
  std::vector<Kept> kept_;
  // (block, segment whose node saves it): end of the last such node's own work. The recomputed block is freed
  // then.
  std::map<std::pair<BlockIndex, SegmentIndex>, Position> unpacked_;
  std::vector<std::pair<BlockIndex, SegmentIndex>> given_;  // (block, segment that has it as input), sorted
};

}  // namespace vramscope::whatif
