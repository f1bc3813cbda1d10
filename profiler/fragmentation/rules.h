// SPDX-License-Identifier: Apache-2.0
// How the allocator of a history rounds sizes, for the history's settings and PyTorch release
// (profiler/allocator/sizing.h).
#pragma once

#include <cstdint>

#include "profiler/allocator/bfc/bfc_allocator.h"
#include "profiler/allocator/history.h"
#include "profiler/allocator/release.h"
#include "profiler/allocator/settings.h"
#include "profiler/allocator/sizing.h"

namespace vramscope::fragmentation {

using allocator::kMaxSlackBytes;
using allocator::kMiB;
using allocator::kSmallRequestBytes;
using allocator::kSmallSegmentBytes;

struct Rules {
  allocator::Model model = allocator::Model::kPyTorch;
  allocator::Settings settings;  // only for PyTorch
  const allocator::Release* release = &allocator::Releases().back();

  // Returns the block size for a request of `bytes`.
  [[nodiscard]] uint64_t Rounded(uint64_t bytes) const {
    return is_bfc() ? Bfc::Rounded(bytes) : allocator::RoundedSize(bytes, settings, *release);
  }
  // Like Rounded, without roundup_power2_divisions.
  [[nodiscard]] uint64_t PlainlyRounded(uint64_t bytes) const {
    return is_bfc() ? Bfc::Rounded(bytes) : allocator::PlainlyRounded(bytes);
  }
  // Returns the size of the block that a request of `rounded` bytes gets from a free block of `free_bytes`:
  // `rounded` if the free block is split, otherwise `free_bytes`. `expandable`: the free block is in an
  // expandable segment.
  [[nodiscard]] uint64_t BlockBytes(uint64_t rounded, uint64_t free_bytes, bool large,
                                    bool expandable) const {
    if (rounded >= free_bytes) return free_bytes;
    if (is_bfc()) return Bfc::IsSplit(free_bytes, rounded) ? rounded : free_bytes;
    const bool split =
        allocator::IsSplit(free_bytes, rounded, !large, expandable || settings.expandable_segments, settings);
    return split ? rounded : free_bytes;
  }
  // Returns the size of the cudaMalloc for a request of `rounded` bytes that finds no free block.
  [[nodiscard]] uint64_t SegmentBytes(uint64_t rounded) const {
    return is_bfc() ? rounded : allocator::SegmentBytes(rounded, settings);
  }
  // True if requests or segments of this size belong to the large pool. BFC has only one pool, the large
  // pool.
  [[nodiscard]] bool IsLargeRequest(uint64_t rounded) const {
    return is_bfc() || rounded > kSmallRequestBytes;
  }
  [[nodiscard]] bool IsLargeSegment(uint64_t bytes) const { return is_bfc() || bytes > kSmallSegmentBytes; }
  [[nodiscard]] uint64_t PageBytes(bool large) const { return allocator::PageBytes(!large, settings); }

  using Bfc = allocator::bfc::BfcAllocator;
  [[nodiscard]] bool is_bfc() const { return model == allocator::Model::kBfc; }
};

// Returns the rules of a history. If its PyTorch release does not accept its settings, returns the rules for
// the default settings.
[[nodiscard]] Rules RulesOf(const allocator::History& history);

}  // namespace vramscope::fragmentation
