// SPDX-License-Identifier: Apache-2.0
// Searches for a packing (instance.h) of at most a given height. The search places items from the bottom up.
//
// The state has two numbers for each section: the floor, up to which the section is filled, and the slack,
// the bytes that may still be wasted. A valley is a run of sections with equal floor between higher
// neighbors. In each step, the search chooses a section of a valley and places an item there that fits, or
// leaves the space empty. In the second case, the section wastes the bytes up to the lowest level at which
// its next item could lie.
//
//   ██      ██   ◄─ neighbors
//   ██ ┌──┐ ██
//   ██ │? │_██   ◄─ valley
//   ██████████
//
// The search chooses the section with the lowest ratio of possible items to failures that the section caused
// (weighted degrees, Boussemart et al. 2004). The most promising item of the section is tried first.
//
// The search is complete: if it returns kImpossible, no packing exists. Restarts vary the weights and add
// randomness. Sources: the skyline of strip packing (Burke et al. 2004), canonical orders of MiniMalloc
// (Moffitt and Stonehouse, ASPLOS 2024).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "profiler/packing/deadline.h"
#include "profiler/packing/instance.h"

namespace vramscope::packing {

class SectionSearch {
 public:
  enum class Outcome { kFound, kImpossible, kGaveUp };

  // `items` must outlive the search and have fewer than 2^31 elements. `sections` must belong to them.
  SectionSearch(std::span<const Item> items, const Sections& sections, uint64_t seed);

  // Returns the sum of the number of sections of all items. The memory of a search is proportional to this
  // sum.
  [[nodiscard]] static uint64_t WidthOf(const Sections& sections);

  // Searches for a packing of at most `height`. Returns kGaveUp after `nodes` states or at the deadline.
  [[nodiscard]] Outcome Search(uint64_t height, uint64_t nodes, Deadline& deadline);
  [[nodiscard]] const Packing& found() const { return found_; }

 private:
  static constexpr uint64_t kWall = ~uint64_t{0};  // floor of a section without items to place
  static constexpr uint32_t kNone = 0xffffffff;

  struct Box {
    uint32_t first;
    uint32_t last;
    uint64_t size;
    uint32_t item;
    // The previous box with the same sections and size, which must be placed before this box. kNone = no such
    // box.
    uint32_t twin;
  };
  struct Valley {
    uint32_t first;
    uint32_t last;
    uint64_t floor;
    uint64_t rim;  // the lower of the two neighbors
  };
  struct Choice {
    uint32_t box;  // kNone = leave the space empty
    double promise;
  };
  struct Undo {
    uint32_t section;
    uint64_t floor;
    uint64_t slack;
  };
  struct Level {
    size_t choices_begin;
    size_t next_choice;
    size_t undo_begin;
    uint32_t section;
    uint32_t placed;  // box, or kNone
    uint64_t waste;   // wasted bytes if no item is placed
  };

  void Start(uint64_t height);
  bool Place(uint32_t box, uint64_t offset);
  bool Raise(uint32_t section, uint64_t floor);
  bool FillDeadValleys(bool* changed);
  void FindValleys();
  bool CountPossibilities();
  [[nodiscard]] uint32_t ChooseSection() const;
  bool OpenLevel(Deadline& deadline);
  bool TryNext();
  void TakeBack(const Level& level);
  void Blame(uint32_t section) { weight_[section] += 1; }
  [[nodiscard]] double Promise(const Box& box, const Valley& valley);

  std::vector<Box> boxes_;
  uint32_t sections_ = 0;
  size_t item_count_ = 0;
  std::mt19937_64 chance_;
  std::vector<uint64_t> load_;      // for each section: bytes of all boxes
  std::vector<uint32_t> covering_;  // for each section: number of boxes
  uint64_t most_load_ = 0;

  uint64_t height_ = 0;
  std::vector<uint64_t> floor_;
  std::vector<uint64_t> slack_;
  std::vector<uint32_t> remaining_;  // for each section: boxes to place
  std::vector<uint64_t> offset_;     // for each box
  std::vector<uint8_t> placed_;
  std::vector<uint32_t> open_boxes_;  // not placed, unordered
  std::vector<uint32_t> open_at_;     // for each box: index in open_boxes_

  std::vector<Valley> valleys_;
  std::vector<uint32_t> valley_of_;  // for each section: index in valleys_, or kNone
  std::vector<int32_t> possible_;    // for each section: number of boxes that fit on its floor
  std::vector<double> weight_;
  std::vector<Undo> undo_;
  std::vector<Choice> choices_;
  std::vector<Level> levels_;

  // Parameters that differ between restarts.
  double prefer_width_ = 1;
  double prefer_size_ = 1;
  double prefer_level_ = 1;
  double noise_ = 0.1;
  uint64_t largest_ = 1;

  Packing found_;
};

}  // namespace vramscope::packing
