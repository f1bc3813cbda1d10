// SPDX-License-Identifier: Apache-2.0
// By which settings of which release a history is read. What follows from them is the allocator's own
// (profiler/allocator/sizing.h).
#pragma once

#include <cstdint>

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
  allocator::Settings settings;
  const allocator::Release* release = &allocator::Releases().back();

  // The block size that a request of `bytes` looks for.
  [[nodiscard]] uint64_t Rounded(uint64_t bytes) const {
    return allocator::RoundedSize(bytes, settings, *release);
  }
  // The size of the block that a request, `rounded`, gets from a free block of `free_bytes`. `expandable`: of
  // the block; with the setting, requests from older segments are split like it.
  [[nodiscard]] uint64_t BlockBytes(uint64_t rounded, uint64_t free_bytes, bool large,
                                    bool expandable) const {
    if (rounded >= free_bytes) return free_bytes;
    const bool split =
        allocator::IsSplit(free_bytes, rounded, !large, expandable || settings.expandable_segments, settings);
    return split ? rounded : free_bytes;
  }
  // What the driver is asked for when a request, `rounded`, finds no free block; cudaMalloc.
  [[nodiscard]] uint64_t SegmentBytes(uint64_t rounded) const {
    return allocator::SegmentBytes(rounded, settings);
  }
  [[nodiscard]] uint64_t PageBytes(bool large) const { return allocator::PageBytes(!large, settings); }
};

// Those that the history names; defaults for settings that no release would have taken.
[[nodiscard]] Rules RulesOf(const allocator::History& history);

}  // namespace vramscope::fragmentation
