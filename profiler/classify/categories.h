// SPDX-License-Identifier: Apache-2.0
// Determines the category of every block at every moment of its life, and the fact that proves the category.
//
// A block changes its category at most twice.
//
//   allocated                 released by autograd labeled              freed
//   ├──── activation ─────────┼──── temporary ────┼──── gradient ──────────┤
//
// The rules, strongest first. A label applies to the block's whole life. Only a gradient label applies from
// its own event on.
//
//   communication, gradient              allocated for communication, such as buckets or gathered weights.
//                                        A bucket is a gradient if gradients are views of it
//   parameter, optimizer state, buffer   labeled so, except for leaves that are not parameters (leaves.h)
//   gradient                             labeled so, from the label's event on
//   optimizer state                      not labeled, but allocated while an optimizer ran, and still alive
//                                        one full step later
//   workspace, input                     labeled so
//   communication                        read or written by a collective, but never saved by autograd
//   input                                not labeled, but allocated in a data loader, or allocated while a
//                                        batch is prepared and then saved by autograd or alive in backward.
//                                        If the program keeps the block, it is unattributed after one full
//                                        step
//   activation                           saved by autograd, until the last reference is released. If no saves
//                                        were recorded: allocated in forward and alive in backward
//   temporary                            other blocks allocated in a phase. Blocks allocated outside of all
//                                        phases are unattributed
#pragma once

#include <array>
#include <span>
#include <vector>

#include "profiler/classify/category.h"
#include "profiler/classify/proof.h"
#include "profiler/model/run.h"
#include "profiler/timeline/training.h"

namespace vramscope::classify {

// A part of a block's life with one category.
struct Stretch {
  model::EventIndex begin = 0;  // ends where the next stretch begins, or when the block is freed
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

  // Appends a stretch. If the last stretch does not begin earlier than `stretch`, replaces the last stretch.
  void Add(const Stretch& stretch);

 private:
  std::array<Stretch, 3> stretches_;
  size_t size_ = 0;
};

class Categories {
 public:
  // `training` has one element per process. O(blocks).
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
  std::vector<First> first_;  // by block
  std::vector<Later> later_;  // the second and third stretches, by block
  // For each group of kGroup blocks, the index of its first entry in `later_`; plus one end entry.
  std::vector<uint32_t> later_of_;
};

}  // namespace vramscope::classify
