// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/free_list.h"

namespace vramscope::allocator {

FreeList::Position FreeList::LowerBound(const Key& key) const {
  if (empty()) return end();
  size_t chunk = 0;
  if (chunks_.size() > 1) {
    const auto found =
        std::lower_bound(chunks_.begin(), chunks_.end(), key,
                         [](const auto& entries, const auto& k) { return Less(entries.back(), k); });
    if (found == chunks_.end()) return end();
    chunk = static_cast<size_t>(found - chunks_.begin());
  }
  const auto& entries = chunks_[chunk];
  const auto slot = std::lower_bound(entries.begin(), entries.end(), key, Less);
  if (slot == entries.end()) return end();
  return {chunk, static_cast<size_t>(slot - entries.begin())};
}

void FreeList::Insert(const Entry& entry) {
  Position at = LowerBound({entry.bytes, entry.registration, entry.address});
  if (at == end()) at = {chunks_.size() - 1, chunks_.back().size()};
  auto& entries = chunks_[at.chunk];
  if (entries.capacity() == 0) entries.reserve(kChunk);
  if (entries.size() < kChunk) {
    entries.insert(entries.begin() + static_cast<ptrdiff_t>(at.slot), entry);
    return;
  }
  std::vector<Entry> upper;
  upper.reserve(kChunk);
  const auto middle = entries.begin() + kChunk / 2;
  upper.assign(middle, entries.end());
  entries.erase(middle, entries.end());
  if (at.slot <= kChunk / 2) {
    entries.insert(entries.begin() + static_cast<ptrdiff_t>(at.slot), entry);
  } else {
    upper.insert(upper.begin() + static_cast<ptrdiff_t>(at.slot - kChunk / 2), entry);
  }
  chunks_.insert(chunks_.begin() + static_cast<ptrdiff_t>(at.chunk) + 1, std::move(upper));
}

void FreeList::Erase(Position at) {
  auto& entries = chunks_[at.chunk];
  entries.erase(entries.begin() + static_cast<ptrdiff_t>(at.slot));
  if (entries.empty() && chunks_.size() > 1)
    chunks_.erase(chunks_.begin() + static_cast<ptrdiff_t>(at.chunk));
}

}  // namespace vramscope::allocator
