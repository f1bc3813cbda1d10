// SPDX-License-Identifier: Apache-2.0
// The blocks of a device, stored in one array and linked by index, so that the whole state can be copied.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/allocator/history.h"

namespace vramscope::allocator {

using BlockNumber = uint32_t;
constexpr BlockNumber kNoBlock = 0xffffffff;
constexpr uint32_t kNotExpandable = 0xffffffff;

enum class BlockStatus : uint8_t {
  kFree,         // in a free list
  kAllocated,    // in use by the program
  kPendingFree,  // freed, but another stream may still use it
  kUnmapped,     // address range of an expandable segment, without memory
};

struct Block {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t requested_bytes = 0;
  // Value of BlockPool::searches when this block became free. The age of the block for garbage collection is
  // the number of searches since then.
  int64_t searches_before = 0;
  BlockNumber previous = kNoBlock;  // neighbors in the segment, by address
  BlockNumber next = kNoBlock;
  StreamIndex stream = 0;
  uint32_t expandable = kNotExpandable;  // number of the expandable segment that contains the block
  uint32_t registration = 0;  // number of the segment, oldest first; orders equal sizes (PyTorch 2.11+)
  PoolIndex pool = kDefaultPool;
  bool small = false;
  BlockStatus status = BlockStatus::kFree;

  [[nodiscard]] bool mapped() const { return status != BlockStatus::kUnmapped; }
  [[nodiscard]] bool in_use() const {
    return status == BlockStatus::kAllocated || status == BlockStatus::kPendingFree;
  }
  [[nodiscard]] bool split() const { return previous != kNoBlock || next != kNoBlock; }
  [[nodiscard]] bool is_expandable() const { return expandable != kNotExpandable; }
};

// Blocks by number. The numbers of deleted blocks are reused.
class BlockTable {
 public:
  Block& operator[](BlockNumber number) { return blocks_[number]; }
  const Block& operator[](BlockNumber number) const { return blocks_[number]; }

  // Adds a block. Invalidates references to blocks.
  [[nodiscard]] BlockNumber Add(const Block& block) {
    if (spare_.empty()) {
      blocks_.push_back(block);
      return static_cast<BlockNumber>(blocks_.size() - 1);
    }
    const BlockNumber number = spare_.back();
    spare_.pop_back();
    blocks_[number] = block;
    return number;
  }
  void Delete(BlockNumber number) {
    blocks_[number] = Block{};
    spare_.push_back(number);
  }

  // All blocks, ordered by number. Deleted blocks have 0 bytes.
  [[nodiscard]] const std::vector<Block>& places() const { return blocks_; }

 private:
  std::vector<Block> blocks_;
  std::vector<BlockNumber> spare_;
};

}  // namespace vramscope::allocator
