// SPDX-License-Identifier: Apache-2.0
// Looks for a packing of at most a given height, section by section from the bottom up.
//
// The state is a skyline: how high each section is filled, and how much of it may still be wasted. Where the
// skyline has a valley (a stretch of equal floor with higher neighbours), an item that rests on the valley's
// floor lies within it; so for one section of a valley there are few possibilities: one of the items that
// cover it and fit into the valley, or none, and then the section loses at least what the lowest possible
// support for its next item leaves empty.
//
//   ██      ██   ◄─ neighbors
//   ██ ┌──┐ ██
//   ██ │? │_██   ◄─ valley
//   ██████████
//
// Next comes the section with the fewest possibilities, counted for each failure that it caused (Boussemart
// et al. 2004: weighted degrees), tried from the most promising item on. A section that may waste nothing and
// has one item left for its floor leaves no choice.
//
// Complete: an exhausted search proves that there is no such packing. Restarts with other weights and some
// chance cut the long tails of a search that began badly. Ideas: the skyline of strip packing (Burke et al.
// 2004), canonical orders of MiniMalloc (Moffitt and Stonehouse, ASPLOS 2024).
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

  // `items` must outlive the search and number less than 2^31; `sections` are theirs.
  SectionSearch(std::span<const Item> items, const Sections& sections, uint64_t seed);

  // What one descent takes at most, in sections that items cover: it keeps as many to take its steps back.
  [[nodiscard]] static uint64_t WidthOf(const Sections& sections);

  // Searches until it finds a packing of at most `height`, has proved that there is none, or has seen `nodes`
  // states or the deadline has passed.
  [[nodiscard]] Outcome Search(uint64_t height, uint64_t nodes, Deadline& deadline);
  [[nodiscard]] const Packing& found() const { return found_; }

 private:
  static constexpr uint64_t kWall = ~uint64_t{0};  // the floor of a section that has nothing left to place
  static constexpr uint32_t kNone = 0xffffffff;

  struct Box {
    uint32_t first;
    uint32_t last;
    uint64_t size;
    uint32_t item;
    uint32_t twin;  // the box in front with the same place and size, to be placed before this one; kNone
  };
  struct Valley {
    uint32_t first;
    uint32_t last;
    uint64_t floor;
    uint64_t rim;  // the lower of the two neighbours
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
  // A state in the search: what may be tried in it, and how to get back to it.
  struct Level {
    size_t choices_begin;
    size_t next_choice;
    size_t undo_begin;
    uint32_t section;
    uint32_t placed;  // box, or kNone
    uint64_t waste;   // of the choice kNone
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
  std::vector<uint32_t> covering_;  // their number
  uint64_t most_load_ = 0;

  uint64_t height_ = 0;
  std::vector<uint64_t> floor_;
  std::vector<uint64_t> slack_;
  std::vector<uint32_t> remaining_;  // boxes to place, by section
  std::vector<uint64_t> offset_;     // by box
  std::vector<uint8_t> placed_;
  std::vector<uint32_t> open_boxes_;  // not placed, unordered
  std::vector<uint32_t> open_at_;     // where in open_boxes_, by box

  std::vector<Valley> valleys_;
  std::vector<uint32_t> valley_of_;  // by section; kNone
  std::vector<int32_t> possible_;    // boxes for the section's floor
  std::vector<double> weight_;
  std::vector<Undo> undo_;
  std::vector<Choice> choices_;
  std::vector<Level> levels_;

  // How the restarts differ.
  double prefer_width_ = 1;
  double prefer_size_ = 1;
  double prefer_level_ = 1;
  double noise_ = 0.1;
  uint64_t largest_ = 1;

  Packing found_;
};

}  // namespace vramscope::packing
