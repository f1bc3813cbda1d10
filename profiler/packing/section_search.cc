// SPDX-License-Identifier: Apache-2.0
#include "profiler/packing/section_search.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace vramscope::packing {

SectionSearch::SectionSearch(std::span<const Item> items, const Sections& sections, uint64_t seed)
    : sections_(sections.count), item_count_(items.size()), chance_(seed) {
  for (uint32_t i = 0; i < items.size(); ++i) {
    const Sections::Span span = sections.spans[i];
    if (span.first > span.last) continue;
    boxes_.push_back({span.first, span.last, items[i].bytes, i, kNone});
    largest_ = std::max(largest_, items[i].bytes);
  }
  std::sort(boxes_.begin(), boxes_.end(), [](const Box& a, const Box& b) {
    return std::tie(a.first, a.last, a.size, a.item) < std::tie(b.first, b.last, b.size, b.item);
  });
  for (uint32_t i = 1; i < boxes_.size(); ++i) {
    const Box& before = boxes_[i - 1];
    if (before.first == boxes_[i].first && before.last == boxes_[i].last && before.size == boxes_[i].size)
      boxes_[i].twin = i - 1;
  }
  load_.resize(sections_ + 1);
  covering_.resize(sections_ + 1);
  for (const Box& box : boxes_) {  // differences at the edges; summed up below
    load_[box.first] += box.size;
    load_[box.last + 1] -= box.size;
    ++covering_[box.first];
    --covering_[box.last + 1];
  }
  for (uint32_t s = 1; s < sections_; ++s) {
    load_[s] += load_[s - 1];
    covering_[s] += covering_[s - 1];
  }
  load_.resize(sections_);
  covering_.resize(sections_);
  for (const uint64_t load : load_) most_load_ = std::max(most_load_, load);
  weight_.assign(sections_, 1);
  valley_of_.resize(sections_);
  possible_.resize(sections_ + 1);
  offset_.resize(boxes_.size());
}

uint64_t SectionSearch::WidthOf(const Sections& sections) {
  uint64_t width = 0;
  for (const Sections::Span& span : sections.spans)
    if (span.first <= span.last) width += span.last - span.first + 1;
  return width;
}

void SectionSearch::Start(uint64_t height) {
  height_ = height;
  floor_.assign(sections_, 0);
  slack_.resize(sections_);
  for (uint32_t s = 0; s < sections_; ++s) slack_[s] = height - load_[s];
  remaining_ = covering_;
  placed_.assign(boxes_.size(), 0);
  open_boxes_.resize(boxes_.size());
  open_at_.resize(boxes_.size());
  for (uint32_t i = 0; i < boxes_.size(); ++i) open_boxes_[i] = open_at_[i] = i;
  undo_.clear();
  choices_.clear();
  levels_.clear();
}

SectionSearch::Outcome SectionSearch::Search(uint64_t height, uint64_t nodes, Deadline& deadline) {
  if (most_load_ > height) return Outcome::kImpossible;
  Start(height);
  std::uniform_real_distribution<double> any(0, 1);
  prefer_width_ = 2 * any(chance_);
  prefer_size_ = 2 * any(chance_);
  prefer_level_ = 1.5 * any(chance_);
  noise_ = 0.02 + 0.5 * any(chance_) * any(chance_);

  bool alive = OpenLevel(deadline);
  for (uint64_t seen = 0; seen < nodes; ++seen) {
    if (open_boxes_.empty() && alive) {
      found_.offsets.assign(item_count_, 0);
      found_.height = 0;
      for (uint32_t i = 0; i < boxes_.size(); ++i) {
        found_.offsets[boxes_[i].item] = offset_[i];
        found_.height = std::max(found_.height, offset_[i] + boxes_[i].size);
      }
      return Outcome::kFound;
    }
    if (deadline.Passed()) return Outcome::kGaveUp;
    // Go back to the last state with untried choices.
    bool moved = false;
    while (!moved) {
      if (levels_.empty()) return Outcome::kImpossible;
      moved = TryNext();
      if (moved) continue;
      const Level level = levels_.back();
      levels_.pop_back();
      choices_.resize(level.choices_begin);
      if (levels_.empty()) return Outcome::kImpossible;
      TakeBack(levels_.back());
    }
    alive = OpenLevel(deadline);
    if (!alive) TakeBack(levels_.back());
  }
  return Outcome::kGaveUp;
}

bool SectionSearch::Raise(uint32_t section, uint64_t floor) {
  const uint64_t waste = floor - floor_[section];
  if (waste > slack_[section]) {
    Blame(section);
    return false;
  }
  undo_.push_back({section, floor_[section], slack_[section]});
  slack_[section] -= waste;
  floor_[section] = floor;
  return true;
}

bool SectionSearch::Place(uint32_t index, uint64_t offset) {
  const Box& box = boxes_[index];
  offset_[index] = offset;
  placed_[index] = 1;
  const uint32_t at = open_at_[index];
  open_boxes_[at] = open_boxes_.back();
  open_at_[open_boxes_[at]] = at;
  open_boxes_.pop_back();
  for (uint32_t s = box.first; s <= box.last; ++s) {
    undo_.push_back({s, floor_[s], slack_[s]});
    --remaining_[s];
    floor_[s] = remaining_[s] == 0 ? kWall : offset + box.size;
  }
  return true;
}

// Undoes the moves since the level's current choice was made.
void SectionSearch::TakeBack(const Level& level) {
  while (undo_.size() > level.undo_begin) {
    const Undo& undo = undo_.back();
    floor_[undo.section] = undo.floor;
    slack_[undo.section] = undo.slack;
    undo_.pop_back();
  }
  if (level.placed == kNone) return;
  const Box& box = boxes_[level.placed];
  for (uint32_t s = box.first; s <= box.last; ++s) ++remaining_[s];
  placed_[level.placed] = 0;
  open_at_[level.placed] = static_cast<uint32_t>(open_boxes_.size());
  open_boxes_.push_back(level.placed);
}

void SectionSearch::FindValleys() {
  valleys_.clear();
  uint32_t s = 0;
  while (s < sections_) {
    if (floor_[s] == kWall) {
      valley_of_[s++] = kNone;
      continue;
    }
    uint32_t last = s;
    while (last + 1 < sections_ && floor_[last + 1] == floor_[s]) ++last;
    const uint64_t left = s == 0 ? kWall : floor_[s - 1];
    const uint64_t right = last + 1 == sections_ ? kWall : floor_[last + 1];
    const bool valley = left > floor_[s] && right > floor_[s];
    const uint32_t number = valley ? static_cast<uint32_t>(valleys_.size()) : kNone;
    if (valley) valleys_.push_back({s, last, floor_[s], std::min(left, right)});
    for (; s <= last; ++s) valley_of_[s] = number;
  }
}

// Counts the boxes that could rest on the floor of each section in a valley.
bool SectionSearch::CountPossibilities() {
  std::fill(possible_.begin(), possible_.end(), 0);
  for (const uint32_t index : open_boxes_) {
    const Box& box = boxes_[index];
    const uint32_t valley = valley_of_[box.first];
    if (valley == kNone || valley_of_[box.last] != valley || valleys_[valley].last < box.last) continue;
    if (box.twin != kNone && placed_[box.twin] == 0) continue;
    ++possible_[box.first];
    --possible_[box.last + 1];
  }
  for (uint32_t s = 1; s < sections_; ++s) possible_[s] += possible_[s - 1];
  return true;
}

// Raises sections of a valley on which no box can rest.
bool SectionSearch::FillDeadValleys(bool* changed) {
  *changed = false;
  for (const Valley& valley : valleys_) {
    bool dead = true;
    for (uint32_t s = valley.first; s <= valley.last && dead; ++s) dead = possible_[s] == 0;
    if (dead) {
      if (valley.rim == kWall) return false;
      for (uint32_t s = valley.first; s <= valley.last; ++s) {
        if (!Raise(s, valley.rim)) return false;
      }
      *changed = true;
      continue;
    }
    for (uint32_t s = valley.first; s <= valley.last; ++s) {
      if (possible_[s] == 0 && slack_[s] == 0) {
        Blame(s);
        return false;
      }
    }
  }
  return true;
}

uint32_t SectionSearch::ChooseSection() const {
  uint32_t best = kNone;
  double best_rank = 0;
  for (const Valley& valley : valleys_) {
    for (uint32_t s = valley.first; s <= valley.last; ++s) {
      const int32_t ways = possible_[s] + (slack_[s] > 0 ? 1 : 0);
      if (ways <= 1 && possible_[s] == 1) return s;  // no choice
      const double rank = ways / weight_[s];
      if (best != kNone && rank >= best_rank) continue;
      best = s;
      best_rank = rank;
    }
  }
  return best;
}

double SectionSearch::Promise(const Box& box, const Valley& valley) {
  const double width = static_cast<double>(box.last - box.first + 1) / (valley.last - valley.first + 1);
  const double size = static_cast<double>(box.size) / static_cast<double>(largest_);
  const uint64_t top = valley.floor + box.size;
  const bool level =
      (box.first == valley.first && valley.first > 0 && floor_[valley.first - 1] == top) ||
      (box.last == valley.last && valley.last + 1 < sections_ && floor_[valley.last + 1] == top);
  std::uniform_real_distribution<double> any(0, 1);
  return prefer_width_ * width + prefer_size_ * std::sqrt(size) + (level ? prefer_level_ : 0) +
         noise_ * any(chance_);
}

// Finds the choices in the present state. False if the state is a dead end.
bool SectionSearch::OpenLevel(Deadline& deadline) {
  for (bool changed = true; changed;) {
    if (deadline.Passed(sections_ + open_boxes_.size())) return false;
    FindValleys();
    CountPossibilities();
    if (!FillDeadValleys(&changed)) return false;
  }
  if (open_boxes_.empty()) return true;
  const uint32_t section = ChooseSection();
  if (section == kNone) return false;
  const Valley valley = valleys_[valley_of_[section]];

  Level level{choices_.size(), choices_.size(), undo_.size(), section, kNone, 0};
  uint64_t lowest_support = valley.rim;
  for (const uint32_t index : open_boxes_) {
    const Box& box = boxes_[index];
    if (box.first < valley.first || box.last > valley.last) continue;
    if (box.twin != kNone && placed_[box.twin] == 0) continue;
    if (box.first <= section && section <= box.last) {
      choices_.push_back({index, Promise(box, valley)});
    } else {
      lowest_support = std::min(lowest_support, valley.floor + box.size);
    }
  }
  std::sort(choices_.begin() + static_cast<ptrdiff_t>(level.choices_begin), choices_.end(),
            [](const Choice& a, const Choice& b) { return a.promise > b.promise; });
  if (lowest_support != kWall && lowest_support - valley.floor <= slack_[section]) {
    level.waste = lowest_support;
    choices_.push_back({kNone, 0});
  }
  levels_.push_back(level);
  return true;
}

bool SectionSearch::TryNext() {
  Level& level = levels_.back();
  if (level.next_choice == choices_.size()) {
    Blame(level.section);
    return false;
  }
  const Choice choice = choices_[level.next_choice++];
  level.placed = choice.box;
  if (choice.box == kNone) return Raise(level.section, level.waste);
  return Place(choice.box, floor_[level.section]);
}

}  // namespace vramscope::packing
