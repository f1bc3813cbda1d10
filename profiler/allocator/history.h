// SPDX-License-Identifier: Apache-2.0
// What one device's allocator did: its events in order, and its segments after the last event. For
// TensorFlow, a segment is a region of its BFC allocator.
//
// Snapshots, traces and test programs are all converted to a History. The struct follows TraceEntry,
// SegmentInfo and BlockInfo in PyTorch's c10/core/CachingDeviceAllocator.h (2.1 to 2.15).
//
//   inside one malloc:  [free_completed ...] [segment_free | segment_unmap ...]
//                       [segment_alloc | segment_map ...]  alloc | oom
//   inside one free:    free_requested [free_completed]    free_completed comes later if another stream
//                                                          still used the block
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
// The pool of an event is not recorded (snapshots of PyTorch before 2.8). The event then belongs to the pool
// of the segment that contains Event::address.
constexpr PoolIndex kUnknownPool = 0xffff;

// PyTorch's MempoolId_t: {capture id, 0} for the pool of a CUDA graph, {0, n} for torch.cuda.MemPool and
// graph_pool_handle().
struct PoolId {
  uint64_t capture = 0;
  uint64_t user = 0;
  friend bool operator==(const PoolId&, const PoolId&) = default;
};

// True if a file's `address` and `bytes` can be device memory. Rejects values so large that address + bytes
// could overflow.
constexpr bool IsMemory(uint64_t address, uint64_t bytes) {
  constexpr uint64_t kBeyond = uint64_t{1} << 60;
  return address != 0 && bytes != 0 && address < kBeyond && bytes < kBeyond;
}

// The kinds of events, with the numbers of PyTorch's TraceEntry::Action. Each comment tells what Event::bytes
// contains.
enum class Action : uint8_t {
  kAlloc,          // bytes = as requested, not rounded
  kFreeRequested,  // bytes = same as in the block's kAlloc
  kFreeCompleted,  // bytes = same as in the block's kAlloc
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
  uint64_t bytes = 0;            // size of the block, including rounding
  uint64_t requested_bytes = 0;  // requested by the program; 0 = unknown (PyTorch before 2.0) or free
  BlockUse use = BlockUse::kFree;
};

// A segment from one cudaMalloc, or one contiguous run of mapped pages of an expandable segment. `blocks`
// cover the segment without gaps, in order of address.
struct SegmentState {
  uint64_t address = 0;
  uint64_t bytes = 0;
  StreamIndex stream = 0;
  PoolIndex pool = kDefaultPool;
  bool large = false;  // true = in the large pool, false = in the small pool ("segment_type")
  bool expandable = false;
  int64_t registration = -1;  // "registration_counter", 2.11 and later: the order of creation
  std::vector<BlockState> blocks;
};

// Which allocator made the history: PyTorch's or TensorFlow's.
using Model = model::AllocatorModel;

struct History {
  int device = 0;
  Model model = Model::kPyTorch;
  std::string torch_version;  // "2.6.0+cu124"; "" = unknown
  std::string settings;       // PYTORCH_CUDA_ALLOC_CONF; for TensorFlow see bfc::WithSettings; "" = defaults
                              // or unknown
  uint64_t device_bytes = 0;  // memory of the device; 0 = unknown

  std::vector<uint64_t> streams{0};     // handle of each StreamIndex
  std::vector<PoolId> pools{PoolId{}};  // id of each PoolIndex

  std::vector<Event> events;

  // Segments after the last event, in order of address. Valid only if has_segments is true.
  std::vector<SegmentState> segments;
  bool has_segments = false;
  // True if the allocator was empty before the first event. Used only if has_segments is false.
  bool complete = false;
};

// Describes an event for users: "alloc, 512 bytes at 0x7f00, stream 1".
[[nodiscard]] std::string Describe(const Event& event);
[[nodiscard]] std::string Hex(uint64_t address);
// Describes the block that contains `address` for users: "free, 4096 bytes from 0x7e00".
[[nodiscard]] std::string DescribePlace(const std::vector<SegmentState>& segments, uint64_t address);
// Describes the first difference between two states for users; "" if they are equal.
[[nodiscard]] std::string FirstDifference(const std::vector<SegmentState>& ours,
                                          const std::vector<SegmentState>& theirs);

}  // namespace vramscope::allocator
