// SPDX-License-Identifier: Apache-2.0
#include "trace_format/live_set.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace vramscope::trace {
namespace {

constexpr size_t kFirstBlockSlots = 1024;

}  // namespace

LiveSet::LiveSet() : slots_(kFirstBlockSlots) {}

size_t LiveSet::HomeOf(uint32_t process, uint64_t address) const {
  // Addresses are aligned and close together: multiply, then take the high half, which depends on every
  // address bit.
  const uint64_t mixed = (address ^ (uint64_t{process} << 48)) * 0x9E3779B97F4A7C15;
  return static_cast<size_t>(mixed >> 32) & (slots_.size() - 1);
}

size_t LiveSet::SlotOf(uint32_t process, uint64_t address) const {
  size_t slot = HomeOf(process, address);
  while (slots_[slot].number != 0 && (slots_[slot].address != address || slots_[slot].process != process)) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

const LiveBlock* LiveSet::Find(uint32_t process, uint64_t address) const {
  const LiveBlock& block = slots_[SlotOf(process, address)];
  return block.number == 0 ? nullptr : &block;
}

void LiveSet::Insert(const LiveBlock& block) {
  assert(block.number != 0);
  LiveBlock& slot = slots_[SlotOf(block.process, block.address)];
  const bool is_new = slot.number == 0;
  slot = block;
  if (is_new && ++size_ * 2 > slots_.size()) Grow();
}

void LiveSet::Erase(uint32_t process, uint64_t address) {
  size_t hole = SlotOf(process, address);
  if (slots_[hole].number == 0) return;
  --size_;
  // Moves back blocks that probed past the hole, so that no search ends there too early. A block may fill the
  // hole unless its home lies between the hole (exclusive) and itself.
  const size_t mask = slots_.size() - 1;
  for (size_t next = (hole + 1) & mask; slots_[next].number != 0; next = (next + 1) & mask) {
    const size_t home = HomeOf(slots_[next].process, slots_[next].address);
    if (((next - home) & mask) >= ((next - hole) & mask)) {
      slots_[hole] = slots_[next];
      hole = next;
    }
  }
  slots_[hole].number = 0;
}

void LiveSet::Clear() {
  slots_.assign(kFirstBlockSlots, {});
  size_ = 0;
}

void LiveSet::Grow() {
  std::vector<LiveBlock> old = std::exchange(slots_, std::vector<LiveBlock>(slots_.size() * 2));
  for (const LiveBlock& block : old) {
    if (block.number != 0) slots_[SlotOf(block.process, block.address)] = block;
  }
}

void LiveSet::Apply(const Event& event, uint32_t process, uint64_t number) {
  if (event.type == EventType::kAlloc) {
    Insert({number, event.field[alloc::kAddress], event.field[alloc::kSize], event.field[alloc::kDevice],
            event.time_ns, process});
  } else if (event.type == EventType::kFree) {
    Erase(process, event.field[free_::kAddress]);
  }
}

std::vector<LiveBlock> LiveSet::Sorted() const {
  std::vector<LiveBlock> blocks;
  blocks.reserve(size_);
  for (const LiveBlock& block : slots_) {
    if (block.number != 0) blocks.push_back(block);
  }
  std::ranges::sort(blocks, {}, &LiveBlock::number);
  return blocks;
}

}  // namespace vramscope::trace
