// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/order/memory_totals.h"

#include <algorithm>

namespace vramscope::collector {
namespace {

constexpr uint8_t kCpu = 0;   // c10::DeviceType
constexpr uint8_t kCuda = 1;  // c10::DeviceType

// The CPU is one device, whether it is called "cpu" or "cpu:0".
uint64_t DeviceKey(uint64_t device) {
  return trace::DeviceTypeOf(device) == kCpu ? trace::DeviceCode(kCpu, 0) : device & 0xFFFF;
}

}  // namespace

size_t LiveBlocks::Home(uint64_t address) const {
  // Blocks are 64 to 512 bytes apart: the product's upper half depends on all bits.
  return static_cast<size_t>((address * 0x9E3779B97F4A7C15ULL) >> 32) & (slots_.size() - 1);
}

size_t LiveBlocks::Find(uint64_t address) const {
  size_t at = Home(address);
  while (slots_[at].address != 0 && slots_[at].address != address) at = (at + 1) & (slots_.size() - 1);
  return at;
}

bool LiveBlocks::Contains(uint64_t address) const {
  return address != 0 && !slots_.empty() && slots_[Find(address)].address != 0;
}

void LiveBlocks::Grow() {
  std::vector<Block> old(slots_.empty() ? 1024 : slots_.size() * 2, Block{});
  old.swap(slots_);
  for (const Block& block : old) {
    if (block.address != 0) slots_[Find(block.address)] = block;
  }
}

std::optional<LiveBlocks::Block> LiveBlocks::Insert(const Block& block) {
  if (block.address == 0) return std::nullopt;
  if ((size_ + 1) * 4 > slots_.size() * 3) Grow();
  Block& slot = slots_[Find(block.address)];
  std::optional<Block> previous;
  if (slot.address != 0) {
    previous = slot;
  } else {
    ++size_;
  }
  slot = block;
  return previous;
}

std::optional<LiveBlocks::Block> LiveBlocks::Remove(uint64_t address) {
  if (address == 0 || slots_.empty()) return std::nullopt;
  size_t hole = Find(address);
  if (slots_[hole].address == 0) return std::nullopt;
  const Block removed = slots_[hole];
  const size_t mask = slots_.size() - 1;
  // Close the gap: an entry may move back to the hole unless its home lies between the hole and where it is.
  for (size_t at = (hole + 1) & mask; slots_[at].address != 0; at = (at + 1) & mask) {
    const size_t distance_from_home = (at - Home(slots_[at].address)) & mask;
    if (distance_from_home >= ((at - hole) & mask)) {
      slots_[hole] = slots_[at];
      hole = at;
    }
  }
  slots_[hole] = Block{};
  --size_;
  return removed;
}

bool ProcessMemory::Disagrees(uint64_t device, uint64_t reported, uint64_t change) {
  const auto found =
      std::find_if(reports_.begin(), reports_.end(), [&](const Report& r) { return r.device == device; });
  if (found == reports_.end()) {
    if (reported != 0) reports_.push_back({device, reported});  // a hook without totals also reports 0
    return false;
  }
  const bool differs = found->total + change != reported;
  found->total = reported;
  return differs;
}

MemoryTotals::Device& MemoryTotals::Of(uint64_t code) {
  for (Device& device : devices_) {
    if (device.code == code) return device;
  }
  return devices_.emplace_back(Device{code, 0, 0});
}

void MemoryTotals::Add(uint64_t code, uint64_t bytes) {
  Device& device = Of(code);
  device.bytes += bytes;
  device.peak = std::max(device.peak, device.bytes);
}

void MemoryTotals::Subtract(uint64_t code, uint64_t bytes) {
  Device& device = Of(code);
  device.bytes -= std::min(bytes, device.bytes);
}

void MemoryTotals::Check(ProcessMemory& process, uint64_t device, uint64_t reported, uint64_t change) {
  if (trace::DeviceTypeOf(device) == kCuda && process.Disagrees(device, reported, change)) ++mismatches_;
}

void MemoryTotals::Alloc(ProcessMemory& process, const trace::Event& event) {
  const uint64_t device = DeviceKey(event.field[trace::alloc::kDevice]);
  const uint64_t size = event.field[trace::alloc::kSize];
  const auto previous = process.blocks.Insert({event.field[trace::alloc::kAddress], size, device});
  if (previous) Subtract(previous->device, previous->size);
  Add(device, size);
  Check(process, device, event.field[trace::alloc::kTotalAllocated], size);
}

void MemoryTotals::Free(ProcessMemory& process, const trace::Event& event) {
  const auto block = process.blocks.Remove(event.field[trace::free_::kAddress]);
  if (!block) return;
  Subtract(block->device, block->size);
  Check(process, block->device, event.field[trace::free_::kTotalAllocated], 0 - block->size);
}

void MemoryTotals::ProcessEnded(ProcessMemory& process) {
  process.blocks.ForEach([&](const LiveBlocks::Block& block) { Subtract(block.device, block.size); });
  process.blocks = LiveBlocks();
}

uint64_t MemoryTotals::PeakBytes() const {
  uint64_t cpu = 0;
  uint64_t cuda = 0;
  for (const Device& device : devices_) {
    uint64_t& peak = trace::DeviceTypeOf(device.code) == kCpu ? cpu : cuda;
    peak = std::max(peak, device.peak);
  }
  return cuda != 0 ? cuda : cpu;
}

}  // namespace vramscope::collector
