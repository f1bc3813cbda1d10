// SPDX-License-Identifier: Apache-2.0
// Where in the step the blocks belong that the first step made for good.
//
//   first step  batch  a  b  [clamped table]  c │ backward  d  e │ optimizer  [state]  f
//   this step   batch  a  b                   c │ backward  d  e │ optimizer           f
//                                            ▲ table                                   ▲ state
//
// A step repeats itself: the first one asks for what this one asks for, and for others between: what it
// keeps, and temporaries of its own, as of a cache that forward fills. So the parts of both from one landmark
// to the next (begins of backward passes and of optimizers' steps) are laid side by side, from their ends on.
//
// Where a part asks for other sizes, as batches of another length do, the allocations that are not for good
// are counted: from the begin of the last landmark on, or from the step's begin, where the first forward has
// temporaries of its own. Where it has none, what it keeps is counted back from the first backward pass: the
// first step seems to begin too late then, as forward is taken to make as much as in later steps.
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
  // O(changes of the device), with a logarithm. The step must outlive it.
  explicit FirstStep(const Step& step);

  // Whether the block was made in the first step.
  [[nodiscard]] bool Made(model::EventIndex alloc) const { return begin_ <= alloc && alloc < end_; }
  // Of one of its allocations, or frees.
  [[nodiscard]] Position PlaceOf(model::EventIndex event) const;
  // What it made and gave up again, and this step does not make.
  [[nodiscard]] std::vector<Passing> Temporaries() const;

 private:
  struct Landmark {
    model::EventIndex first = 0;     // in the first step
    model::EventIndex recorded = 0;  // in this one
    Position own = 0;                // the same where levers left it
    auto operator<=>(const Landmark&) const = default;
  };
  struct Allocation {
    model::EventIndex event = 0;
    model::BlockId block = 0;
    uint64_t asked = 0;            // bytes
    uint32_t same = model::kNone;  // of the first step's: which one of this step's it is
    Position own = kBefore;        // of this step's: where levers left it; kBefore: it is gone
  };
  // What both steps allocate from one landmark to the next: [first, second).
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
  // Whether the first forward makes more than is kept and what this step's makes, up to that landmark.
  [[nodiscard]] bool HasTemporariesOfItsOwn(const Landmark& end) const;
  // Of that one of the step's own allocations; `end`: behind the last one.
  [[nodiscard]] Position Ahead(size_t allocation, Position end) const;

  const Step& step_;
  model::EventIndex begin_ = 0;
  model::EventIndex end_ = 0;
  std::vector<Landmark> landmarks_;
  std::vector<Part> parts_;           // one more than landmarks
  std::vector<Allocation> ordinary_;  // of the first step, those that are not for good
  std::vector<Allocation> recorded_;  // of this step, before levers
  std::vector<Position> own_;         // the same where levers left them
};

}  // namespace vramscope::whatif
