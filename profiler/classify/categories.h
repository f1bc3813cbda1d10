// SPDX-License-Identifier: Apache-2.0
// The category of every block at every moment of its life, with the fact that proves it.
//
// A block changes its category at most twice.
//
//   birth                     released            labeled                  free
//   ├──── activation ─────────┼──── temporary ────┼──── gradient ──────────┤
//
// Rules, strongest first. A label applies to the block's whole life, except a gradient label:
//   communication, gradient              allocated for communication: buckets, gathered parameters. A bucket
//                                        is a gradient if gradients are views of it
//   parameter, optimizer state, buffer   labels, except labels of temporary leaves (leaves.h)
//   gradient                             label, from its event on
//   optimizer state                      no label: allocated in an optimizer's step and alive one full step
//                                        later
//   workspace, input                     labels
//   communication                        read or written by a collective, never saved by autograd
//   input                                no label: allocated in a data loader, or while a batch is prepared
//                                        and then saved or alive in backward. If the program keeps it,
//                                        unattributed after one full step
//   activation                           saved by autograd, until the last reference is released. Without
//                                        recorded saves: allocated in forward and alive in backward
//   temporary                            by the phase of the allocation; unattributed outside of all phases
#pragma once

#include <array>
#include <span>
#include <vector>

#include "profiler/classify/category.h"
#include "profiler/classify/proof.h"
#include "profiler/model/run.h"
#include "profiler/timeline/training.h"

namespace vramscope::classify {

struct Stretch {
  model::EventIndex begin = 0;  // ends at the next stretch's begin; the last one ends when the block is freed
  Category category = Category::kUnattributed;
  Proof proof = Proof::kBornOutsidePhases;
};

// The stretches of one block: one to three.
class Life {
 public:
  [[nodiscard]] const Stretch* begin() const { return stretches_.data(); }
  [[nodiscard]] const Stretch* end() const { return stretches_.data() + size_; }
  [[nodiscard]] size_t size() const { return size_; }
  const Stretch& operator[](size_t i) const { return stretches_[i]; }
  // The stretch that contains event `at`.
  [[nodiscard]] const Stretch& At(model::EventIndex at) const;

  // Appends a stretch. Replaces the last stretch if that stretch does not begin earlier.
  void Add(const Stretch& stretch);

 private:
  std::array<Stretch, 3> stretches_;
  size_t size_ = 0;
};

class Categories {
 public:
  // `training`: one per process. O(blocks).
  Categories(const model::Run& run, std::span<const timeline::Training> training);

  [[nodiscard]] Life Of(model::BlockId block) const;
  // The category at allocation, and whether it changes later.
  [[nodiscard]] Category AtBirth(model::BlockId block) const { return first_[block].category; }
  [[nodiscard]] bool Changes(model::BlockId block) const { return first_[block].goes_on; }
  [[nodiscard]] const Stretch At(model::BlockId block, model::EventIndex at) const {
    return Of(block).At(at);
  }

 private:
  struct Later {
    model::BlockId block = 0;
    Stretch stretch;
  };
  struct First {
    Category category{};
    Proof proof{};
    bool goes_on = false;  // true if `later_` has more stretches
  };

  static constexpr size_t kGroup = 64;

  const model::Run& run_;
  std::vector<First> first_;        // by block
  std::vector<Later> later_;        // the second and third stretches, by block
  std::vector<uint32_t> later_of_;  // by group of kGroup blocks: first index in `later_`; plus one end entry
};

}  // namespace vramscope::classify
