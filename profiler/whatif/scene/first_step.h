// SPDX-License-Identifier: Apache-2.0
// Finds where allocations of the first step alone belong in the recorded step.
//
//   first step  batch  a  b  [clamped table]  c │ backward  d  e │ optimizer  [state]  f
//   this step   batch  a  b                   c │ backward  d  e │ optimizer           f
//                                            ▲ table                                   ▲ state
//
// The first step requests what the recorded step requests, and in addition blocks that stay and temporaries.
// Both steps are cut at landmarks (starts of backward passes and optimizer steps). The parts are aligned from
// their ends.
//
// The sizes of a part may differ (another batch length). Then allocations that do not stay are counted from
// the last landmark. Before the first landmark, counting starts at the step's start, if the first forward has
// temporaries of its own. Otherwise it goes back from the first backward pass, as if all forwards allocated
// the same.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class FirstStep {
 public:
  // O(n log n) for n changes of the device. The step must outlive this object.
  explicit FirstStep(const Step& step);

  [[nodiscard]] bool Made(model::EventIndex alloc) const { return begin_ <= alloc && alloc < end_; }
  // Position in this step of a first step's allocation or free.
  [[nodiscard]] Position PlaceOf(model::EventIndex event) const;
  // Blocks that only the first step allocated, and freed.
  [[nodiscard]] std::vector<Passing> Temporaries() const;

 private:
  struct Landmark {
    model::EventIndex first = 0;     // in the first step
    model::EventIndex recorded = 0;  // in this step, as recorded
    Position own = 0;                // in this step, after levers
    auto operator<=>(const Landmark&) const = default;
  };
  struct Allocation {
    model::EventIndex event = 0;
    model::BlockId block = 0;
    uint64_t asked = 0;            // bytes
    uint32_t same = model::kNone;  // for the first step: the matching allocation of this step
    Position own = kBefore;        // for this step: position after levers; kBefore: removed
  };
  // The allocations of both steps between two landmarks: [first, second).
  struct Part {
    std::pair<size_t, size_t> first, own;
    Position end = 0;  // in this step
    bool laid_side_by_side = false;
  };

  void ReadAllocations();
  [[nodiscard]] Step WindowsOf(const timeline::Step& recorded) const;
  void AddLandmarks(const std::vector<Window>& first, const std::vector<Window>& recorded,
                    const std::vector<Window>& own);
  void AddPart(const Landmark& end);
  [[nodiscard]] bool LaySideBySide(const Part& part);
  [[nodiscard]] size_t PartOf(model::EventIndex event) const;
  [[nodiscard]] Position BesideOwn(model::EventIndex event, size_t of_part) const;
  [[nodiscard]] Position ByCount(model::EventIndex event, size_t of_part) const;
  // True if, up to that landmark, the first forward has more temporaries than this step's forward.
  [[nodiscard]] bool HasTemporariesOfItsOwn(const Landmark& end) const;
  // Position just before that allocation of this step, or before `end` if there is none.
  [[nodiscard]] Position Ahead(size_t allocation, Position end) const;

  const Step& step_;
  model::EventIndex begin_ = 0;
  model::EventIndex end_ = 0;
  std::vector<Landmark> landmarks_;
  std::vector<Part> parts_;           // one more than landmarks
  std::vector<Allocation> ordinary_;  // the first step's, without those that stay
  std::vector<Allocation> recorded_;  // this step's, before levers
  std::vector<Position> own_;         // the same after levers
};

}  // namespace vramscope::whatif
