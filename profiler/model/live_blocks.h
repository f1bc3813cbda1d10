// SPDX-License-Identifier: Apache-2.0
// The live blocks of one process, by address.
//
// Why two maps: a free and most labels name the first byte of a block, which a hash map finds at once. Only
// labels of collectives point into a block. The ordered map that they need costs more for each block than
// everything else in loading, so it is built when the first of these labels arrives.
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
  // The block that begins at `address`, or nullptr. Valid until the next change.
  [[nodiscard]] const BlockId* Find(uint64_t address) const { return by_address_.Find(address); }

  // `address` is not 0. Returns the block that was alive there and that `id` replaces, or kNone.
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

  // The block that contains `address`, or kNone. `blocks`: all blocks so far. The first call visits all of
  // them with `is_mine(block)`; later ones are O(log live blocks).
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
