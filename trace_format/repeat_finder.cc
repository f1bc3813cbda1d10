// SPDX-License-Identifier: Apache-2.0
#include "trace_format/repeat_finder.h"

#include <algorithm>
#include <utility>

namespace vramscope::trace {
namespace {

constexpr size_t kFirstRepeatSlots = 256;

}  // namespace

size_t RepeatFinder::SlotOf(uint64_t value) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = static_cast<size_t>((value * 0x9E3779B97F4A7C15) >> 32) & mask;
  while (slots_[slot].position != 0 && slots_[slot].value != value) slot = (slot + 1) & mask;
  return slot;
}

uint64_t RepeatFinder::DistanceTo(uint64_t value) {
  if (used_ * 2 >= slots_.size()) Grow();
  Slot& slot = slots_[SlotOf(value)];
  ++given_;
  const uint64_t distance = slot.position == 0 ? 0 : given_ - slot.position;
  used_ += slot.position == 0;
  slot = {value, given_};
  return distance;
}

void RepeatFinder::Grow() {
  const std::vector<Slot> old =
      std::exchange(slots_, std::vector<Slot>(std::max(kFirstRepeatSlots, slots_.size() * 2)));
  for (const Slot& slot : old) {
    if (slot.position != 0) slots_[SlotOf(slot.value)] = slot;
  }
}

void RepeatFinder::Clear() {
  if (used_ > 0) std::ranges::fill(slots_, Slot{});
  used_ = 0;
  given_ = 0;
}

}  // namespace vramscope::trace
