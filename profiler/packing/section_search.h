// SPDX-License-Identifier: Apache-2.0
// Searches for a packing of at most a given height, from the bottom up.
//
// State: how high each section is filled (the skyline), and how much of it may still be wasted. A valley is a
// stretch of equal floor with higher neighbors. In a section of a valley, the search places an item that
// covers the section and fits, or none. If none, the section wastes the space below the lowest level at which
// its next item could lie.
//
//   ██      ██   ◄─ neighbors
//   ██ ┌──┐ ██
//   ██ │? │_██   ◄─ valley
//   ██████████
//
// The next section is the one with the fewest possibilities per failure that it caused (weighted degrees,
// Boussemart et al. 2004). The most promising item of the section is tried first.
//
// The search is complete: if it ends without a packing, none exists. Restarts vary the weights and add
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

  // Maximum size of one descent: the number of covered sections, summed over all items. Memory grows with it.
  [[nodiscard]] static uint64_t WidthOf(const Sections& sections);

  // Ends when a packing of at most `height` is found or proved impossible, after `nodes` states, or at the
  // deadline.
  [[nodiscard]] Outcome Search(uint64_t height, uint64_t nodes, Deadline& deadline);
  [[nodiscard]] const Packing& found() const { return found_; }

 private:
  static constexpr uint64_t kWall = ~uint64_t{0};  // the floor of a section with no items left to place
  static constexpr uint32_t kNone = 0xffffffff;

  struct Box {
    uint32_t first;
    uint32_t last;
    uint64_t size;
    uint32_t item;
    // The previous box with the same sections and size, which must be placed before this one. kNone = none.
    uint32_t twin;
  };
  struct Valley {
    uint32_t first;
    uint32_t last;
    uint64_t floor;
    uint64_t rim;  // the lower of the two neighbors
  };
  struct Choice {
    uint32_t box;  // kNone: nothing covers the section
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
    uint64_t waste;   // if no item is chosen
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
  std::vector<uint64_t> load_;      // bytes of all boxes, by section
  std::vector<uint32_t> covering_;  // number of boxes, by section
  uint64_t most_load_ = 0;

  uint64_t height_ = 0;
  std::vector<uint64_t> floor_;
  std::vector<uint64_t> slack_;
  std::vector<uint32_t> remaining_;  // boxes to place, by section
  std::vector<uint64_t> offset_;     // by box
  std::vector<uint8_t> placed_;
  std::vector<uint32_t> open_boxes_;  // not placed, unordered
  std::vector<uint32_t> open_at_;     // by box: its index in open_boxes_

  std::vector<Valley> valleys_;
  std::vector<uint32_t> valley_of_;  // by section; kNone
  std::vector<int32_t> possible_;    // number of boxes possible on the section's floor
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
