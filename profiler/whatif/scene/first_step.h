// SPDX-License-Identifier: Apache-2.0
// Finds the positions in the recorded step that correspond to allocations of the first step. Only the first
// step makes some allocations, such as optimizer state.
//
//   first step  batch  a  b  [clamped table]  c │ backward  d  e │ optimizer  [state]  f
//   recorded    batch  a  b                   c │ backward  d  e │ optimizer           f
//                                            ▲ table                                   ▲ state
//
// Only the first step allocates the blocks in brackets. The arrows show the positions found for them. The
// first step makes the same requests as the recorded step, plus blocks that stay alive and temporaries. Both
// steps are split at landmarks: the starts of backward passes and optimizer steps. Within a part, the
// requests of both steps are matched by size, from the end of the part to its start.
//
// If the sizes do not match (the batch has another length), allocations are counted. The n-th allocation
// after a landmark in the first step then corresponds to the n-th allocation after this landmark in the
// recorded step. Blocks that stay alive are not counted. Before the first landmark, counting starts at the
// start of the step if the first forward has temporaries of its own. Otherwise, it goes back from the first
// backward pass.
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

  // True if the first step made this allocation.
  [[nodiscard]] bool Made(model::EventIndex alloc) const { return begin_ <= alloc && alloc < end_; }
  // Returns the position in the recorded step for an allocation or free of the first step.
  [[nodiscard]] Position PlaceOf(model::EventIndex event) const;
  // Returns the blocks that only the first step allocated, and that it freed.
  [[nodiscard]] std::vector<Passing> Temporaries() const;

 private:
  struct Landmark {
    model::EventIndex first = 0;     // in the first step
    model::EventIndex recorded = 0;  // in the recorded step
    Position own = 0;                // in the recorded step, after levers
    auto operator<=>(const Landmark&) const = default;
  };
  struct Allocation {
    model::EventIndex event = 0;
    model::BlockId block = 0;
    uint64_t asked = 0;            // bytes
    uint32_t same = model::kNone;  // of the first step: index of the matching allocation in recorded_
    Position own = kBefore;  // of the recorded step: position after levers; kBefore = removed by a lever
  };
  // The allocations of both steps between two landmarks, as index ranges [first, second).
  struct Part {
    std::pair<size_t, size_t> first, own;
    Position end = 0;  // in the recorded step
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
  // True if, before the landmark, the forward of the first step has more temporaries than that of the
  // recorded step.
  [[nodiscard]] bool HasTemporariesOfItsOwn(const Landmark& end) const;
  // Returns the position just before this allocation of the recorded step; the position before `end` if there
  // is no such allocation.
  [[nodiscard]] Position Ahead(size_t allocation, Position end) const;

  const Step& step_;
  model::EventIndex begin_ = 0;
  model::EventIndex end_ = 0;
  std::vector<Landmark> landmarks_;
  std::vector<Part> parts_;           // one more than landmarks_
  std::vector<Allocation> ordinary_;  // of the first step, without blocks that stay alive
  std::vector<Allocation> recorded_;  // of the recorded step, before levers
  std::vector<Position> own_;         // of the recorded step, after levers
};

}  // namespace vramscope::whatif
