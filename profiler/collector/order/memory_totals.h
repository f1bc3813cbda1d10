// SPDX-License-Identifier: Apache-2.0
// Counts the memory that recorded processes hold, for the last line of `vramscope record`. The totals are
// also checked against PyTorch's own totals. Takes 24 bytes per live block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace_format/event.h"

namespace vramscope::collector {

// A map from the address of a block to its size and device. Open addressing with linear probing, without
// tombstones.
class LiveBlocks {
 public:
  struct Block {
    uint64_t address;  // never 0
    uint64_t size;
    uint64_t device;
  };
  // Adds a block. Returns the block that was at this address before, if its free was not recorded.
  std::optional<Block> Insert(const Block& block);
  std::optional<Block> Remove(uint64_t address);
  [[nodiscard]] bool Contains(uint64_t address) const;
  [[nodiscard]] size_t size() const { return size_; }
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const Block& slot : slots_) {
      if (slot.address != 0) visit(slot);
    }
  }

 private:
  [[nodiscard]] size_t Home(uint64_t address) const;
  [[nodiscard]] size_t Find(uint64_t address) const;
  void Grow();

  std::vector<Block> slots_;  // size: a power of two; at most 3/4 of the slots are used
  size_t size_ = 0;
};

// One process's live blocks, and each device's last total from PyTorch.
class ProcessMemory {
 public:
  LiveBlocks blocks;

  // Returns true if PyTorch's totals disagree: `reported` (total_allocated of an event) is not the previous
  // report plus `change` (modulo 2^64). The first report always agrees.
  bool Disagrees(uint64_t device, uint64_t reported, uint64_t change);

 private:
  struct Report {
    uint64_t device;
    uint64_t total;
  };
  std::vector<Report> reports_;  // a handful of devices
};

class MemoryTotals {
 public:
  // `event` is a kAlloc or kFree of the process.
  void Alloc(ProcessMemory& process, const trace::Event& event);
  void Free(ProcessMemory& process, const trace::Event& event);
  // Subtracts everything that the process held.
  void ProcessEnded(ProcessMemory& process);

  // Returns the highest total of one CUDA device over all processes. Without CUDA blocks, returns the highest
  // total of the CPU.
  [[nodiscard]] uint64_t PeakBytes() const;
  // Number of reported totals that disagree with the previous report. Either events were missed, or the
  // reports of two threads came in the wrong order.
  [[nodiscard]] uint64_t mismatches() const { return mismatches_; }

 private:
  struct Device {
    uint64_t code;
    uint64_t bytes;
    uint64_t peak;
  };
  Device& Of(uint64_t code);
  void Add(uint64_t device, uint64_t bytes);
  void Subtract(uint64_t device, uint64_t bytes);
  void Check(ProcessMemory& process, uint64_t device, uint64_t reported, uint64_t change);

  std::vector<Device> devices_;
  uint64_t mismatches_ = 0;
};

}  // namespace vramscope::collector
