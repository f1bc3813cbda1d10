// SPDX-License-Identifier: Apache-2.0
// TensorFlow's BFC ("best fit with coalescing") allocator for one device, as a state machine that touches no
// real memory.
//
// TensorFlow and JAX allocate nearly all GPU memory at the start and divide it with this allocator.
// TensorFlow: tsl::BFCAllocator in xla/tsl/framework/bfc_allocator.{h,cc}, release 2.21.
//
//   region: memory from one call of the sub-allocator, or from several calls that returned adjacent memory
//   ┌ chunk ──────┬ chunk ─┬ chunk ──────────────┐ chunks fill a region without gaps; free chunks are never
//   │ used  1024  │ free   │ used 768            │ adjacent; sizes are multiples of 256
//   └─────────────┴────────┴─────────────────────┘
//   free chunks are kept in 21 bins of 256 << n   a search goes from the request's bin to larger bins; it
//   bytes, n = 0 to 20                            takes the smallest chunk that fits, the lowest address on a
//                                                 tie
//
// A chunk is split if it has at least twice the rounded bytes, or if 128 MiB or more would be wasted.
// Example: a request of 1000 bytes is rounded to 1024. A free chunk of 2048 bytes is split. A free chunk of
// 1792 bytes is not.
//
// Not modeled: timestamped frees (SetTimingCounter), and waiting for other threads before a request fails.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace vramscope::allocator::bfc {

// The source of regions: the driver, the C library, or a modeled device.
class SubAllocator {
 public:
  virtual ~SubAllocator() = default;

  struct Region {
    uint64_t address = 0;  // 0 if too little memory is left
    uint64_t bytes = 0;    // at least the requested bytes
  };
  virtual Region Allocate(uint64_t bytes) = 0;
  virtual void Free(uint64_t address, uint64_t bytes) = 0;
  // True if the allocator may merge adjacent regions into one region.
  [[nodiscard]] virtual bool SupportsCoalescing() const = 0;
};

// The fields of tsl::BFCAllocator::Options, and the memory limit.
struct Options {
  uint64_t memory_limit = 0;
  // The setting tf.config.experimental.set_memory_growth. If true, the first region has 2 MiB, and each
  // further region is twice as large. If false, the first region is as large as the limit.
  bool allow_growth = true;
  // The setting TF_ENABLE_GPU_GARBAGE_COLLECTION. If true, regions without a used chunk are given back before
  // a request fails.
  bool garbage_collection = false;
  // Largest allowed waste in one chunk, as a fraction of the limit. 0 means 128 MiB.
  double fragmentation_fraction = 0;
};

// The fields have the names of tf.config.experimental.get_memory_info and tsl::Allocator::GetStats.
struct Statistics {
  int64_t allocations = 0;
  uint64_t bytes_in_use = 0;
  uint64_t peak_bytes_in_use = 0;
  uint64_t largest_allocation = 0;
  uint64_t pool_bytes = 0;
  uint64_t peak_pool_bytes = 0;
};

struct ChunkState {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t requested_bytes = 0;  // 0 = the chunk is free
};

struct RegionState {
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::vector<ChunkState> chunks;  // in order of address
};

class BfcAllocator {
 public:
  // `sub_allocator` must outlive this object.
  BfcAllocator(const Options& options, SubAllocator& sub_allocator);

  // Returns the address, or nothing if `bytes` is 0 or memory runs out. O(log chunks).
  std::optional<uint64_t> Allocate(uint64_t bytes);
  // Returns false and changes nothing if no used chunk begins at `address`.
  bool Free(uint64_t address);

  [[nodiscard]] const Statistics& statistics() const { return statistics_; }
  // Bytes of the used chunk at `address`; 0 if there is none.
  [[nodiscard]] uint64_t ChunkBytes(uint64_t address) const;
  [[nodiscard]] uint64_t LargestFreeChunk() const;
  // 1 - largest free chunk / all free bytes of the regions; 0 if nothing is free.
  [[nodiscard]] double Fragmentation() const;
  // In order of address. O(chunks).
  [[nodiscard]] std::vector<RegionState> Regions() const;

  static constexpr uint64_t kGranule = 256;
  static constexpr uint64_t Rounded(uint64_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }
  static constexpr uint64_t kMostWaste = uint64_t{128} << 20;
  // True if a free chunk is split for a request; `rounded_bytes` <= `chunk_bytes`.
  static constexpr bool IsSplit(uint64_t chunk_bytes, uint64_t rounded_bytes,
                                uint64_t most_waste = kMostWaste) {
    return chunk_bytes >= rounded_bytes * 2 || chunk_bytes - rounded_bytes >= most_waste;
  }

 private:
  static constexpr size_t kBins = 21;

  struct Chunk {
    uint64_t bytes = 0;
    uint64_t requested_bytes = 0;  // 0 = the chunk is free
  };
  using Chunks = std::map<uint64_t, Chunk>;  // by address
  struct Region {
    uint64_t bytes = 0;
    Chunks chunks;
  };
  using Regions_ = std::map<uint64_t, Region>;  // by address
  struct FreeChunk {
    uint64_t bytes;
    uint64_t address;
    auto operator<=>(const FreeChunk&) const = default;
  };

  static size_t BinOf(uint64_t bytes);
  std::optional<uint64_t> TakeFree(uint64_t rounded_bytes, uint64_t requested_bytes);
  [[nodiscard]] bool ShouldSplit(uint64_t chunk_bytes, uint64_t rounded_bytes) const;
  bool Extend(uint64_t rounded_bytes);
  bool GiveBackFreeRegions(uint64_t rounded_bytes);
  void AddRegion(const SubAllocator::Region& added);
  void InsertFree(Region& region, Chunks::iterator chunk);
  void EraseFree(Chunks::const_iterator chunk);
  Regions_::iterator RegionOf(uint64_t address);
  [[nodiscard]] Regions_::const_iterator RegionOf(uint64_t address) const;

  Options options_;
  SubAllocator* sub_allocator_;
  uint64_t next_region_bytes_;
  Regions_ regions_;
  std::array<std::set<FreeChunk>, kBins> bins_;
  Statistics statistics_;
};

}  // namespace vramscope::allocator::bfc
