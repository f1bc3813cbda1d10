// SPDX-License-Identifier: Apache-2.0
// The live blocks of one process, by address.
//
// A hash map finds a block by its first address. An ordered map finds the block that contains an address. The
// ordered map is built at its first use, because it makes loading slower.
#pragma once

#include <iterator>
#include <map>
#include <optional>

#include "profiler/model/block.h"
#include "profiler/model/chunked.h"
#include "profiler/model/flat_map.h"

namespace vramscope::model {

class LiveBlocks {
 public:
  // Returns the block that begins at `address`, or nullptr. The pointer is valid until the next change.
  [[nodiscard]] const BlockId* Find(uint64_t address) const { return by_address_.Find(address); }

  // Adds a block. `address` must not be 0. Returns the block that was alive at this address before, or kNone.
  BlockId Add(uint64_t address, BlockId id) {
    const auto [known, fresh] = by_address_.Insert(address, id);
    const BlockId before = fresh ? kNone : *known;
    *known = id;
    if (ordered_) ordered_->insert_or_assign(address, id);
    return before;
  }

  void Erase(uint64_t address) {
    by_address_.Erase(address);
    if (ordered_) ordered_->erase(address);
  }

  // Returns the block that contains `address`, or kNone. `blocks`: all blocks so far. `is_mine(block)` must
  // return true for the blocks of this process. The first call visits all blocks; later calls are O(log live
  // blocks).
  template <typename IsMine>
  [[nodiscard]] BlockId Around(uint64_t address, const Chunked<Block>& blocks, const IsMine& is_mine) {
    if (!ordered_) {
      ordered_.emplace();
      for (BlockId id = 0; id < blocks.size(); ++id) {
        const Block& block = blocks[id];
        if (block.free_event == kNever && block.address != 0 && is_mine(block))
          ordered_->insert_or_assign(block.address, id);
      }
    }
    const auto after = ordered_->upper_bound(address);
    if (after == ordered_->begin()) return kNone;
    const auto& [begin, id] = *std::prev(after);
    return address - begin < blocks[id].size ? id : kNone;
  }

 private:
  FlatMap by_address_;
  std::optional<std::map<uint64_t, BlockId>> ordered_;
};

}  // namespace vramscope::model
