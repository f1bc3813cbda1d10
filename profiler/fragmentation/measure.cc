// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/measure.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

namespace vramscope::fragmentation {
namespace {

using allocator::kDefaultPool;
using allocator::StreamIndex;

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Visits (block, segment) for all blocks in order of address.
template <typename Visit>
void ForEachBlock(const Layout& layout, Visit visit) {
  for (const auto& [address, index] : layout.segments()) {
    const Segment& segment = layout.segment(index);
    for (BlockIndex at = segment.first; at != kNoIndex; at = layout.block(at).next) {
      visit(layout.block(at), segment);
    }
  }
}

// The numbers of the pages that are partly free. Because of the blocks in them, these pages cannot be
// unmapped.
std::vector<uint64_t> PartlyFreePages(const Layout& layout, const Segment& segment) {
  std::vector<uint64_t> pages;
  const uint64_t size = segment.page_bytes;
  for (BlockIndex at = segment.first; at != kNoIndex; at = layout.block(at).next) {
    const Block& block = layout.block(at);
    if (!block.free()) continue;
    const uint64_t begin = block.address - segment.address;
    const uint64_t end = block.end() - segment.address;
    if (begin % size != 0 || begin / size == end / size) pages.push_back(begin / size);
    if (end % size != 0) pages.push_back(end / size);
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

std::vector<BlockIndex> PinsOf(const Layout& layout, const Segment& segment) {
  std::vector<BlockIndex> pins;
  const auto pages = segment.expandable() ? PartlyFreePages(layout, segment) : std::vector<uint64_t>{};
  for (BlockIndex at = segment.first; at != kNoIndex; at = layout.block(at).next) {
    const Block& block = layout.block(at);
    if (block.free()) continue;
    if (segment.expandable()) {
      const uint64_t first = (block.address - segment.address) / segment.page_bytes;
      const uint64_t last = (block.end() - 1 - segment.address) / segment.page_bytes;
      const auto page = std::lower_bound(pages.begin(), pages.end(), first);
      if (page == pages.end() || *page > last) continue;
    }
    pins.push_back(at);
  }
  std::stable_sort(pins.begin(), pins.end(),
                   [&](BlockIndex a, BlockIndex b) { return layout.block(a).bytes > layout.block(b).bytes; });
  return pins;
}

}  // namespace

StreamIndex MainStream(const Layout& layout) {
  std::map<StreamIndex, uint64_t> reserved;
  for (const Domain& domain : layout.domains()) {
    if (domain.pool == kDefaultPool) reserved[domain.stream] += domain.reserved;
  }
  StreamIndex main = 0;
  uint64_t most = 0;
  for (const auto& [stream, bytes] : reserved) {
    if (bytes > most) {
      most = bytes;
      main = stream;
    }
  }
  return main;
}

Decomposition Decompose(const Layout& layout) {
  const StreamIndex main = MainStream(layout);
  Decomposition causes;
  for (const Domain& domain : layout.domains()) {
    causes.rounding_512 += domain.rounding_512;
    causes.rounding_power2 += domain.rounding_power2;
    causes.slack += domain.slack;
    causes.pending_frees += domain.pending;
    if (domain.pool != kDefaultPool) {
      causes.pool_isolation += domain.free;
      continue;
    }
    causes.releasable += domain.whole;
    uint64_t& cause = !domain.large           ? causes.small_pool_stranding
                      : domain.stream == main ? causes.pinned
                                              : causes.stream_isolation;
    cause += domain.free - domain.whole;
  }
  return causes;
}

double FreeSpace::External() const { return bytes == 0 ? 0 : 1 - Share(largest, bytes); }

double FreeSpace::RootSumSquare() const {
  return bytes == 0 ? 0 : std::max(0.0, 1 - std::sqrt(sum_of_squares) / static_cast<double>(bytes));
}

double Metrics::Instantaneous() const {
  return total.reserved == 0 ? 0 : 1 - Share(total.allocated, total.reserved);
}

double Metrics::Internal() const {
  return total.allocated == 0 ? 0 : 1 - Share(total.requested, total.allocated);
}

double Metrics::PendingShare() const { return Share(total.pending, total.reserved); }

Metrics Measure(const Layout& layout) {
  Metrics metrics;
  metrics.total = layout.Total();
  metrics.causes = Decompose(layout);
  for (const Domain& domain : layout.domains()) metrics.domains.push_back({domain, {}});
  std::array<FreeRuns, 64> classes = {};
  ForEachBlock(layout, [&](const Block& block, const Segment& segment) {
    if (!block.free()) return;
    metrics.space.Add(block.bytes);
    metrics.domains[segment.domain].space.Add(block.bytes);
    FreeRuns& runs = classes[static_cast<size_t>(std::bit_width(block.bytes) - 1)];
    ++runs.runs;
    runs.bytes += block.bytes;
  });
  for (size_t power = 0; power < classes.size(); ++power) {
    if (classes[power].runs == 0) continue;
    classes[power].at_least = uint64_t{1} << power;
    metrics.histogram.push_back(classes[power]);
  }
  return metrics;
}

uint64_t LargestFromDriver(uint64_t driver_free) {
  const uint64_t fitted = driver_free / allocator::kMadeToMeasureRounding * allocator::kMadeToMeasureRounding;
  if (fitted >= allocator::kMadeToMeasureBytes) return fitted;
  return driver_free >= kSmallSegmentBytes ? kSmallRequestBytes : 0;
}

std::vector<LargestRequest> LargestRequests(const Layout& layout, std::optional<uint64_t> driver_free) {
  const allocator::Settings& settings = layout.rules().settings;
  std::map<std::pair<allocator::PoolIndex, StreamIndex>, LargestRequest> requests;
  std::map<std::pair<allocator::PoolIndex, StreamIndex>, uint64_t> tails;  // free bytes at the end of a run
  ForEachBlock(layout, [&](const Block& block, const Segment& segment) {
    const Domain& domain = layout.DomainOf(segment);
    const auto key = std::pair(domain.pool, domain.stream);
    LargestRequest& request = requests[key];
    request.pool = domain.pool;
    request.stream = domain.stream;
    if (!block.free()) return;
    // Memory of the small pool serves only small requests.
    const uint64_t served = domain.large ? block.bytes : std::min(block.bytes, kSmallRequestBytes);
    request.from_free_blocks = std::max(request.from_free_blocks, served);
    const bool grows = segment.expandable() && domain.large && block.end() == segment.end();
    if (grows) tails[key] = std::max(tails[key], block.bytes);
  });
  std::vector<LargestRequest> all;
  for (auto& [key, request] : requests) {
    if (driver_free.has_value() && settings.expandable_segments) {
      const uint64_t pages = *driver_free / settings.large_segment_bytes * settings.large_segment_bytes;
      const uint64_t small = *driver_free >= kSmallSegmentBytes ? kSmallRequestBytes : 0;
      request.from_driver = pages == 0 ? small : tails[key] + pages;
    } else if (driver_free.has_value()) {
      request.from_driver = LargestFromDriver(*driver_free);
    }
    all.push_back(request);
  }
  return all;
}

std::vector<PinnedSegment> PinnedSegments(const Layout& layout) {
  std::vector<PinnedSegment> all;
  for (const auto& [address, index] : layout.segments()) {
    const Segment& segment = layout.segment(index);
    PinnedSegment pinned;
    pinned.segment = index;
    uint64_t whole = 0;
    for (BlockIndex at = segment.first; at != kNoIndex; at = layout.block(at).next) {
      const Block& block = layout.block(at);
      if (!block.free()) {
        pinned.live += block.bytes;
        continue;
      }
      pinned.free += block.bytes;
      pinned.largest_free = std::max(pinned.largest_free, block.bytes);
      whole += layout.WholeBytes(block);
    }
    pinned.held_back = pinned.free - whole;
    if (pinned.held_back == 0) continue;
    pinned.pins = PinsOf(layout, segment);
    all.push_back(std::move(pinned));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const PinnedSegment& a, const PinnedSegment& b) { return a.held_back > b.held_back; });
  return all;
}

}  // namespace vramscope::fragmentation
