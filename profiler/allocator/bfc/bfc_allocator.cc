// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/bfc/bfc_allocator.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace vramscope::allocator::bfc {
namespace {

constexpr uint64_t kFirstRegion = uint64_t{2} << 20;
// The model stops doubling the region size here. TensorFlow keeps doubling; after the overflow it never
// returns.
constexpr uint64_t kLargestRegion = uint64_t{1} << 62;
// If the sub-allocator refuses a region, the next attempt asks for this fraction of its size.
constexpr float kBackpedal = 0.9F;

}  // namespace

BfcAllocator::BfcAllocator(const Options& options, SubAllocator& sub_allocator)
    : options_(options),
      sub_allocator_(&sub_allocator),
      next_region_bytes_(Rounded(options.allow_growth ? std::min(options.memory_limit, kFirstRegion)
                                                      : options.memory_limit)) {}

size_t BfcAllocator::BinOf(uint64_t bytes) {
  const uint64_t granules = std::max(bytes, kGranule) / kGranule;
  return std::min<size_t>(kBins - 1, static_cast<size_t>(std::bit_width(granules)) - 1);
}

std::optional<uint64_t> BfcAllocator::Allocate(uint64_t bytes) {
  if (bytes == 0) return std::nullopt;
  const uint64_t rounded = Rounded(bytes);
  if (const auto found = TakeFree(rounded, bytes)) return found;
  if (Extend(rounded)) {
    if (const auto found = TakeFree(rounded, bytes)) return found;
  }
  if (GiveBackFreeRegions(rounded) && Extend(rounded)) return TakeFree(rounded, bytes);
  return std::nullopt;
}

std::optional<uint64_t> BfcAllocator::TakeFree(uint64_t rounded_bytes, uint64_t requested_bytes) {
  for (size_t bin = BinOf(rounded_bytes); bin < kBins; ++bin) {
    const auto fits = bins_[bin].lower_bound({rounded_bytes, 0});
    if (fits == bins_[bin].end()) continue;
    const uint64_t address = fits->address;
    bins_[bin].erase(fits);
    Region& region = RegionOf(address)->second;
    const auto chunk = region.chunks.find(address);
    if (ShouldSplit(chunk->second.bytes, rounded_bytes)) {
      const uint64_t rest = chunk->second.bytes - rounded_bytes;
      chunk->second.bytes = rounded_bytes;
      const auto split =
          region.chunks.emplace_hint(std::next(chunk), address + rounded_bytes, Chunk{rest, 0});
      bins_[BinOf(rest)].insert({rest, split->first});
    }
    chunk->second.requested_bytes = requested_bytes;
    ++statistics_.allocations;
    statistics_.bytes_in_use += chunk->second.bytes;
    statistics_.peak_bytes_in_use = std::max(statistics_.peak_bytes_in_use, statistics_.bytes_in_use);
    statistics_.largest_allocation = std::max(statistics_.largest_allocation, chunk->second.bytes);
    return address;
  }
  return std::nullopt;
}

bool BfcAllocator::ShouldSplit(uint64_t chunk_bytes, uint64_t rounded_bytes) const {
  const auto most_waste = options_.fragmentation_fraction > 0
                              ? static_cast<uint64_t>(options_.fragmentation_fraction *
                                                      static_cast<double>(options_.memory_limit))
                              : kMostWaste;
  return IsSplit(chunk_bytes, rounded_bytes, most_waste);
}

bool BfcAllocator::Extend(uint64_t rounded_bytes) {
  const uint64_t available =
      (options_.memory_limit - std::min(options_.memory_limit, statistics_.pool_bytes)) / kGranule * kGranule;
  if (rounded_bytes > available) return false;
  bool grown = false;
  while (rounded_bytes > next_region_bytes_) {  // ends: the limit bounds the request
    next_region_bytes_ *= 2;
    grown = true;
  }
  uint64_t bytes = std::min(next_region_bytes_, available);
  SubAllocator::Region added = sub_allocator_->Allocate(bytes);
  while (added.address == 0) {
    bytes = Rounded(static_cast<uint64_t>(static_cast<float>(bytes) * kBackpedal));
    if (bytes < rounded_bytes) return false;
    added = sub_allocator_->Allocate(bytes);
  }
  if (!grown && next_region_bytes_ <= kLargestRegion) next_region_bytes_ *= 2;
  statistics_.pool_bytes += added.bytes;
  statistics_.peak_pool_bytes = std::max(statistics_.peak_pool_bytes, statistics_.pool_bytes);
  AddRegion(added);
  return true;
}

// With coalescing, a new region is merged with the region that ends where it begins. It is not merged with a
// region that begins where it ends.
void BfcAllocator::AddRegion(const SubAllocator::Region& added) {
  auto region = regions_.end();
  if (sub_allocator_->SupportsCoalescing()) {
    region = regions_.lower_bound(added.address);
    if (region == regions_.begin() ||
        std::prev(region)->first + std::prev(region)->second.bytes != added.address) {
      region = regions_.end();
    } else {
      --region;
    }
  }
  if (region == regions_.end()) region = regions_.emplace(added.address, Region{}).first;
  region->second.bytes += added.bytes;
  const auto chunk = region->second.chunks.emplace(added.address, Chunk{added.bytes, 0}).first;
  InsertFree(region->second, chunk);
}

bool BfcAllocator::GiveBackFreeRegions(uint64_t rounded_bytes) {
  if (!options_.garbage_collection) return false;
  const auto is_free = [](const Regions_::value_type& region) {
    return std::ranges::all_of(region.second.chunks,
                               [](const auto& chunk) { return chunk.second.requested_bytes == 0; });
  };
  uint64_t free_bytes = 0;
  for (const auto& region : regions_) {
    if (is_free(region)) free_bytes += region.second.bytes;
  }
  if (free_bytes == 0 || rounded_bytes > options_.memory_limit - statistics_.pool_bytes + free_bytes)
    return false;
  for (auto region = regions_.begin(); region != regions_.end();) {
    if (!is_free(*region)) {
      ++region;
      continue;
    }
    for (auto chunk = region->second.chunks.begin(); chunk != region->second.chunks.end(); ++chunk)
      EraseFree(chunk);
    sub_allocator_->Free(region->first, region->second.bytes);
    statistics_.pool_bytes -= region->second.bytes;
    region = regions_.erase(region);
  }
  return true;
}

bool BfcAllocator::Free(uint64_t address) {
  const auto region = RegionOf(address);
  if (region == regions_.end()) return false;
  const auto chunk = region->second.chunks.find(address);
  if (chunk == region->second.chunks.end() || chunk->second.requested_bytes == 0) return false;
  statistics_.bytes_in_use -= chunk->second.bytes;
  chunk->second.requested_bytes = 0;
  InsertFree(region->second, chunk);
  return true;
}

// Merges a chunk that has just become free with its free neighbors, and puts the result into its bin.
void BfcAllocator::InsertFree(Region& region, Chunks::iterator chunk) {
  if (const auto next = std::next(chunk); next != region.chunks.end() && next->second.requested_bytes == 0) {
    EraseFree(next);
    chunk->second.bytes += next->second.bytes;
    region.chunks.erase(next);
  }
  if (chunk != region.chunks.begin()) {
    if (const auto previous = std::prev(chunk); previous->second.requested_bytes == 0) {
      EraseFree(previous);
      previous->second.bytes += chunk->second.bytes;
      region.chunks.erase(chunk);
      chunk = previous;
    }
  }
  bins_[BinOf(chunk->second.bytes)].insert({chunk->second.bytes, chunk->first});
}

void BfcAllocator::EraseFree(Chunks::const_iterator chunk) {
  bins_[BinOf(chunk->second.bytes)].erase({chunk->second.bytes, chunk->first});
}

BfcAllocator::Regions_::iterator BfcAllocator::RegionOf(uint64_t address) {
  auto region = regions_.upper_bound(address);
  if (region == regions_.begin()) return regions_.end();
  --region;
  return address < region->first + region->second.bytes ? region : regions_.end();
}

BfcAllocator::Regions_::const_iterator BfcAllocator::RegionOf(uint64_t address) const {
  return const_cast<BfcAllocator*>(this)->RegionOf(address);
}

uint64_t BfcAllocator::ChunkBytes(uint64_t address) const {
  const auto region = RegionOf(address);
  if (region == regions_.end()) return 0;
  const auto chunk = region->second.chunks.find(address);
  return chunk == region->second.chunks.end() || chunk->second.requested_bytes == 0 ? 0 : chunk->second.bytes;
}

uint64_t BfcAllocator::LargestFreeChunk() const {
  for (size_t bin = kBins; bin-- > 0;) {
    if (!bins_[bin].empty()) return bins_[bin].rbegin()->bytes;
  }
  return 0;
}

double BfcAllocator::Fragmentation() const {
  const uint64_t free_bytes = statistics_.pool_bytes - statistics_.bytes_in_use;
  return free_bytes == 0 ? 0 : 1 - static_cast<double>(LargestFreeChunk()) / static_cast<double>(free_bytes);
}

std::vector<RegionState> BfcAllocator::Regions() const {
  std::vector<RegionState> states;
  for (const auto& [address, region] : regions_) {
    RegionState& state = states.emplace_back(RegionState{address, region.bytes, {}});
    for (const auto& [begin, chunk] : region.chunks)
      state.chunks.push_back({begin, chunk.bytes, chunk.requested_bytes});
  }
  return states;
}

}  // namespace vramscope::allocator::bfc
