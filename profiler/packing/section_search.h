// SPDX-License-Identifier: Apache-2.0
// Searches for a packing of at most a given height, section by section from the bottom up.
//
// The state is a skyline: how high each section is filled, and how much of it may still be wasted. A valley
// is a stretch of equal floor with higher neighbors. An item that rests on the valley's floor lies within the
// valley. So a section of a valley has few possibilities: each item that covers the section and fits into the
// valley, or no item. Without an item, the section loses at least the space up to the lowest possible support
// of its next item.
//
//   ██      ██   ◄─ neighbors
//   ██ ┌──┐ ██
//   ██ │? │_██   ◄─ valley
//   ██████████
//
// The search continues with the section that has the fewest possibilities per failure that it has caused
// (weighted degrees, Boussemart et al. 2004), and tries its most promising item first. If a section may waste
// nothing and only one item can rest on its floor, there is no choice.
//
// The search is complete: if it is exhausted, no such packing exists. Restarts with other weights and some
// randomness cut the long tails of searches that began badly. Ideas: the skyline of strip packing (Burke et
// al. 2004), canonical orders of MiniMalloc (Moffitt and Stonehouse, ASPLOS 2024).
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

  // Maximum size of one descent, as the number of sections that items cover. The search keeps that many
  // entries to undo its steps.
  [[nodiscard]] static uint64_t WidthOf(const Sections& sections);

  // Searches until it finds a packing of at most `height`, proves that none exists, has visited `nodes`
  // states, or the deadline has passed.
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
    // The previous box with the same sections and size, which must be placed first; kNone = none.
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
  // A state in the search: the choices to try in it, and how to undo them.
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
