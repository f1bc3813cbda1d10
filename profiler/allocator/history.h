// SPDX-License-Identifier: Apache-2.0
// The history of one device's allocator, as PyTorch records it: the events in order, and the segments at the
// end. TensorFlow's regions are segments here.
//
// Snapshots, traces and test programs are all converted to this form. PyTorch: TraceEntry, SegmentInfo and
// BlockInfo in c10/core/CachingDeviceAllocator.h (2.1 to 2.15).
//
//   inside one malloc:  [free_completed ...] [segment_free | segment_unmap ...]
//                       [segment_alloc | segment_map ...]  alloc | oom
//   inside one free:    free_requested [free_completed]    the second comes later if another stream still
//                                                          used the block
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/model/framework.h"

namespace vramscope::allocator {

// Index into History::streams. Index 0 is always the default stream (handle 0).
using StreamIndex = uint32_t;
// Index into History::pools. Index 0 is always the default pool, {0, 0}.
using PoolIndex = uint16_t;
constexpr PoolIndex kDefaultPool = 0;
// Snapshots of PyTorch before 2.8 do not record the pool of an event. The pool is that of the segment at the
// address.
constexpr PoolIndex kUnknownPool = 0xffff;

// PyTorch's MempoolId_t: {capture id, 0} for the pool of a CUDA graph, {0, n} for torch.cuda.MemPool and
// graph_pool_handle().
struct PoolId {
  uint64_t capture = 0;
  uint64_t user = 0;
  friend bool operator==(const PoolId&, const PoolId&) = default;
};

// True if a file's `address` and `bytes` can be device memory. The end of a larger value could overflow.
constexpr bool IsMemory(uint64_t address, uint64_t bytes) {
  constexpr uint64_t kBeyond = uint64_t{1} << 60;
  return address != 0 && bytes != 0 && address < kBeyond && bytes < kBeyond;
}

// Numbered as PyTorch's TraceEntry::Action.
enum class Action : uint8_t {
  kAlloc,          // bytes = as requested, not rounded
  kFreeRequested,  // bytes = as at its alloc
  kFreeCompleted,  // bytes = as at its alloc
  kSegmentAlloc,   // cudaMalloc; bytes = size
  kSegmentFree,    // cudaFree; bytes = size
  kSegmentMap,     // expandable segments only; bytes = newly mapped
  kSegmentUnmap,   // expandable segments only; bytes = unmapped
  kSnapshot,       // bytes = active bytes; address unused
  kOutOfMemory,    // bytes = the rounded request; address = bytes that the driver reported as free
};

struct Event {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t time_ns = 0;  // any clock that never goes back; 0 = unknown
  StreamIndex stream = 0;
  PoolIndex pool = kDefaultPool;
  Action action = Action::kAlloc;

  friend bool operator==(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) == 32, "histories have millions of events");

enum class BlockUse : uint8_t {
  kFree,         // "inactive"
  kAllocated,    // "active_allocated"
  kPendingFree,  // "active_pending_free", "active_awaiting_free": another stream may still use it
};

struct BlockState {
  uint64_t address = 0;
  uint64_t bytes = 0;            // size of the block: rounded, with its slack
  uint64_t requested_bytes = 0;  // requested by the program; 0 = unknown (PyTorch before 2.0) or free
  BlockUse use = BlockUse::kFree;
};

// One cudaMalloc, or one run of mapped pages of an expandable segment. The blocks fill it, in order.
struct SegmentState {
  uint64_t address = 0;
  uint64_t bytes = 0;
  StreamIndex stream = 0;
  PoolIndex pool = kDefaultPool;
  bool large = false;  // true: belongs to the large pool ("segment_type")
  bool expandable = false;
  int64_t registration = -1;  // "registration_counter", 2.11 and later: the order of creation
  std::vector<BlockState> blocks;
};

// The allocator that made the history.
using Model = model::AllocatorModel;

struct History {
  int device = 0;
  Model model = Model::kPyTorch;
  std::string torch_version;  // "2.6.0+cu124"; "" = unknown
  std::string settings;       // PYTORCH_CUDA_ALLOC_CONF; for TensorFlow see bfc::WithSettings; "" = defaults
                              // or unknown
  uint64_t device_bytes = 0;  // memory of the device; 0 = unknown

  std::vector<uint64_t> streams{0};     // handles
  std::vector<PoolId> pools{PoolId{}};  // ids

  std::vector<Event> events;

  // Segments after the last event, in order of address.
  std::vector<SegmentState> segments;
  bool has_segments = false;
  // The allocator was empty before the first event. Needed only without segments.
  bool complete = false;
};

// Text for users: "alloc, 512 bytes at 0x7f00, stream 1".
[[nodiscard]] std::string Describe(const Event& event);
[[nodiscard]] std::string Hex(uint64_t address);
// Text for users: the block at an address, "free, 4096 bytes from 0x7e00".
[[nodiscard]] std::string DescribePlace(const std::vector<SegmentState>& segments, uint64_t address);
// The first difference between two states; "" if they are equal.
[[nodiscard]] std::string FirstDifference(const std::vector<SegmentState>& ours,
                                          const std::vector<SegmentState>& theirs);

}  // namespace vramscope::allocator
