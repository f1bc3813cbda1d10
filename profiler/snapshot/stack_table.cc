// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/stack_table.h"

#include <algorithm>

#include "profiler/model/flat_map.h"

namespace vramscope::snapshot {
namespace {

using model::MixBits;

uint64_t HashOf(const Frame& frame) {
  return MixBits(uint64_t{frame.file} << 32 | frame.function) + MixBits(static_cast<uint64_t>(frame.line));
}

uint64_t HashOf(std::span<const FrameId> frames) {
  uint64_t hash = frames.size();
  for (const FrameId frame : frames) hash = (hash ^ frame) * 0x9e3779b97f4a7c15u + (hash >> 29);
  return MixBits(hash);
}

// Doubles the slots and inserts the entries 0 to count - 1 again.
template <typename Hash>
void Grow(std::vector<uint32_t>* slots, size_t count, const Hash& hash_of) {
  std::vector<uint32_t> larger(slots->size() * 2);
  for (uint32_t id = 0; id < count; ++id) {
    size_t slot = hash_of(id) & (larger.size() - 1);
    while (larger[slot] != 0) slot = (slot + 1) & (larger.size() - 1);
    larger[slot] = id + 1;
  }
  *slots = std::move(larger);
}

}  // namespace

StackTable::StackTable() : frame_slots_(256), begins_{0}, stack_slots_(256) { AddStack({}); }

FrameId StackTable::AddFrame(const Frame& frame) {
  if ((frames_.size() + 1) * 2 > frame_slots_.size()) {
    Grow(&frame_slots_, frames_.size(), [this](uint32_t id) { return HashOf(frames_[id]); });
  }
  size_t slot = HashOf(frame) & (frame_slots_.size() - 1);
  for (; frame_slots_[slot] != 0; slot = (slot + 1) & (frame_slots_.size() - 1)) {
    if (frames_[frame_slots_[slot] - 1] == frame) return frame_slots_[slot] - 1;
  }
  frames_.push_back(frame);
  frame_slots_[slot] = static_cast<uint32_t>(frames_.size());
  return static_cast<FrameId>(frames_.size() - 1);
}

StackId StackTable::AddStack(std::span<const FrameId> frames) {
  if ((begins_.size() + 1) * 2 > stack_slots_.size()) {
    Grow(&stack_slots_, begins_.size() - 1, [this](uint32_t id) { return HashOf(stack(id)); });
  }
  size_t slot = HashOf(frames) & (stack_slots_.size() - 1);
  for (; stack_slots_[slot] != 0; slot = (slot + 1) & (stack_slots_.size() - 1)) {
    if (std::ranges::equal(stack(stack_slots_[slot] - 1), frames)) return stack_slots_[slot] - 1;
  }
  lists_.insert(lists_.end(), frames.begin(), frames.end());
  begins_.push_back(lists_.size());
  stack_slots_[slot] = stack_count();
  return stack_count() - 1;
}

}  // namespace vramscope::snapshot
