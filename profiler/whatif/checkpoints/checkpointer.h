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
// Segments may lie in others ("Nestable Checkpoint" there). What is kept belongs to the innermost one alone,
// and what goes into a segment is kept by the one around it. So the outer one is computed again first, with
// the inner ones checkpointed as in forward, and leaves what goes into these; each of them takes its input
// from there when backward comes to it.
//
//   outer    recompute │ ├─into a─────────────────────────────────────────┤
//                      │   ├─into b─────────────────┤
//   inner b                        recompute │ nodes │
//   inner a                                                recompute │ nodes │
//
// A module that keeps a result until its call in the next step, as a recurrent state, keeps the one that was
// made again last, and its graph: what the nodes behind it keep stays until then (graph_behind.h).
//
// With operators whose results are kept (create_selective_checkpoint_contexts, 2.4 to 2.15), these results
// stay until the recomputation takes them in the place of computing them, and live on as if it had; one that
// it does not come to, until the segment's nodes have let go. Not for segments in others.
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
  // `calls`: into Step::modules, in order. `kept_ops`: whose results are not computed again. Both step and
  // kept_ops must outlive it.
  Checkpointer(const Step& step, const std::vector<uint32_t>& calls, const std::vector<uint32_t>& kept_ops);

  // Whether there is anything to compute again.
  [[nodiscard]] bool any() const;
  // Whether a segment lies in another one.
  [[nodiscard]] bool nested() const { return levels_ > 1; }
  void Change(Scene& scene) const;
  // Host time of what is computed again.
  [[nodiscard]] double RecomputedNs() const;

 private:
  // One checkpointed call.
  struct Segment {
    uint32_t call = model::kNone;
    Position begin = 0;
    Position end = 0;
    uint32_t parent = model::kNone;  // the segment around it
    uint32_t depth = 0;              // how many are around it
    Position last_save =
        kBefore;  // of its own: by nodes that are in no segment in it, and what goes into one
    Position recompute = kForever;  // begin of the first of its nodes that keeps something
    Position released = kBefore;    // when the last of them let go
  };
  // What modules keep from one step to the next: by (block, segment that makes it again), until when; and
  // when the recomputation takes the one that forward made from them, by block.
  struct Left {
    std::map<std::pair<uint32_t, uint32_t>, Position> until;
    std::map<uint32_t, Position> replaced;
    void Add(uint32_t block, uint32_t segment, Position to) {
      Position& known = until.try_emplace({block, segment}, kBefore).first->second;
      known = std::max(known, to);
    }
  };
  // By segment: whose graphs it leaves, and until when.
  using Graphs = std::map<uint32_t, std::vector<std::pair<uint32_t, Position>>>;
  // What is known of one block's references.
  struct Kept {
    Position inside = kBefore;   // last release of what segments' nodes kept of it
    Position outside = kBefore;  // last release of other nodes'
  };

  void FindSegments(const std::vector<uint32_t>& calls);
  void FindSaves();
  void FindGiven();
  // The innermost one; kNone where there is none.
  [[nodiscard]] uint32_t SegmentAt(Position at) const;
  [[nodiscard]] bool IsWithin(uint32_t segment, uint32_t around) const;
  [[nodiscard]] bool IsMadeAgain(uint32_t segment) const { return segments_[segment].recompute < kForever; }
  // Where a moment of the forward is in the recomputation, and where that is over.
  [[nodiscard]] Position Again(const Segment& segment, Position at) const;
  [[nodiscard]] Position Unwound(const Segment& segment) const;

  [[nodiscard]] Left FindLeft(const Scene& scene) const;
  void FindStates(const Scene& scene, Left& left, Graphs& graphs) const;
  // What is made again with the segment lives longer for them; what forward made, and goes into one, too.
  static void Leave(const Left& left, uint32_t place, Block& copy);
  void LeaveRecorded(const Left& left, uint32_t home, Block& block) const;
  // Until when the block is alive that is made again with the segment.
  [[nodiscard]] Position EndOfCopy(uint32_t block, uint32_t segment) const;
  // What a kept operator takes and gives back, such as a workspace: it does not run again.
  [[nodiscard]] bool IsInnerOfKept(uint32_t block) const;
  void Recompute(const Block& block, uint32_t home, const Left& left, std::vector<Block>& copies) const;
  // The block itself: no longer kept by the nodes of segments, but by the segments that it goes into.
  void Drop(Block& block, uint32_t home) const;
  void GatherWithin(Scene& scene) const;
  void GatherEarlier(const Segment& segment, const StepBlock& forward, bool together, Block& block) const;
  // Until the last of the segments that were given the block has been made again.
  [[nodiscard]] Position GivenUntil(uint32_t block, uint32_t home) const;
  // Of those in `around`, which keeps what goes into them until they are made again: until they let go of it.
  [[nodiscard]] Position GivenWithin(uint32_t block, uint32_t around) const;

  const Step& step_;
  const LastUses& uses_;
  const std::vector<uint32_t>& kept_ops_;
  uint32_t levels_ = 1;
  std::vector<bool> cached_;  // by block: what a kept operator handed out
  std::vector<Segment> segments_;
  std::vector<Kept> kept_;
  // (block, segment whose node keeps it): the end of the last of these nodes' own work, when what was made
  // again goes.
  std::map<std::pair<uint32_t, uint32_t>, Position> unpacked_;
  std::vector<std::pair<uint32_t, uint32_t>> given_;  // (block, segment) that it goes into, sorted
};

}  // namespace vramscope::whatif
