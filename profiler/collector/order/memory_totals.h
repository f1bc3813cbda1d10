// SPDX-License-Identifier: Apache-2.0
// Running totals of the memory that recorded processes hold, for the last line of `record`. They are also
// checked against PyTorch's own totals. 24 bytes per live block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace_format/event.h"

namespace vramscope::collector {

// Address -> size and device. Open addressing with linear probing, without tombstones.
class LiveBlocks {
 public:
  struct Block {
    uint64_t address;  // never 0
    uint64_t size;
    uint64_t device;
  };
  // Returns the block that was at this address, if its free was not seen.
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

  std::vector<Block> slots_;  // a power of two, at most 3/4 used
  size_t size_ = 0;
};

// One process's live blocks, and each device's last total from PyTorch.
class ProcessMemory {
 public:
  LiveBlocks blocks;

  // Compares `reported` (total_allocated of an event) with the last report plus `change` (modulo 2^64). True
  // if they differ. The first report is accepted as it is.
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

  // The highest total of one CUDA device over all processes, or of the CPU if no CUDA block was seen.
  [[nodiscard]] uint64_t PeakBytes() const;
  // Number of reported totals that do not follow from the report before them. Either events were missed, or
  // the reports of two threads came in the wrong order.
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
