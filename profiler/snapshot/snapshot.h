// SPDX-License-Identifier: Apache-2.0
// A PyTorch memory snapshot, as from torch.cuda.memory._snapshot(): the segments and blocks of the caching
// allocator, and the history of its events.
//
// Texts and stacks are indices into tables. Data that the file does not contain is marked as unknown: by
// kUnknown, or by a has_ member that is false.
//
//   pickle, .gz, .zst, JSON ──Read──► Snapshot ─┬─► model::Source (report, info, viewer)
//                                               ├─► allocator::History (replay)
//                                               └─► Write ──► pickle
//
// A Snapshot covers the keys of all PyTorch releases since 1.13. Release 2.1 moved frames from
// blocks[].history[] to the blocks. New keys are time_us (2.3), allocator_settings (2.4) and
// external_annotations (2.5). Since 2026, events have pool_id, and there are keys host_*. A Snapshot does not
// change after it is read; any number of threads may use it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/model/chunked.h"
#include "profiler/snapshot/stack_table.h"
#include "profiler/snapshot/text_table.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

inline constexpr uint64_t kUnknown = ~uint64_t{0};
inline constexpr uint32_t kMaxDevices = 256;           // c10::DeviceIndex has 8 bits
inline constexpr uint32_t kHostDevice = ~uint32_t{0};  // pinned host memory; -1 in the file

// The actions of PyTorch's TraceEntry::Action, in the same order.
enum class Action : uint8_t {
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kSnapshot,
  kOom,
  kAnnotate,  // torch.cuda.memory._annotate_tensor: user_metadata is for the block at `address`
  kOther
};

struct PoolId {
  uint64_t first = 0;
  uint64_t second = 0;
  friend bool operator==(const PoolId&, const PoolId&) = default;
};

// The fields of an event that many events share.
struct Origin {
  uint64_t stream = 0;           // stream handle; 0 = default stream
  uint32_t compile_context = 0;  // index in Snapshot::texts
  uint32_t user_metadata = 0;    // index in Snapshot::texts
  bool has_context = false;
  bool has_metadata = false;
  bool has_pool = false;
  PoolId pool;
  friend bool operator==(const Origin&, const Origin&) = default;
};

struct Event {
  uint64_t address = 0;  // for kOom: the free bytes that the driver reported
  // For allocations and frees: requested bytes. For segment events: segment size. For kSnapshot: active
  // bytes.
  uint64_t bytes = 0;
  uint64_t time_us = kUnknown;
  StackId stack = 0;
  uint32_t origin = 0;  // index in Snapshot::origins
  Action action = Action::kOther;
};

enum class BlockState : uint8_t { kInactive, kAllocated, kPendingFree };

struct Block {
  uint64_t address = kUnknown;  // if missing in the file, computed from earlier blocks
  uint64_t bytes = 0;
  uint64_t requested_bytes = kUnknown;
  StackId stack = 0;
  BlockState state = BlockState::kInactive;
};

struct Segment {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t allocated_bytes = 0;
  uint64_t active_bytes = 0;
  uint64_t requested_bytes = kUnknown;
  uint64_t stream = 0;
  PoolId pool;
  uint32_t device = 0;
  StackId stack = 0;
  bool has_pool = false;
  bool large = true;
  bool expandable = false;
  std::vector<Block> blocks;  // in order of address
};

struct Annotation {
  uint32_t name = 0;  // index in Snapshot::texts
  uint32_t device = 0;
  uint64_t time_us = kUnknown;
  bool start = true;
};

// A contiguous part of Snapshot::events. One device's history is usually one part.
struct EventRange {
  uint32_t first = 0;
  uint32_t count = 0;
};

// Maximum nesting of dicts in allocator_settings.
inline constexpr int kSettingsDepth = 4;

// A value of allocator_settings. `key` is its path, such as "roundup_power2_divisions.256". `value` is in
// Python notation.
struct Setting {
  std::string key;
  std::string value;
  bool is_text = false;  // true: the value is a string in the file
};

struct Snapshot {
  TextTable texts;
  StackTable stacks;
  std::vector<Origin> origins{Origin{}};
  model::Chunked<Event> events;

  std::vector<std::vector<EventRange>> device_traces;  // index: device
  std::vector<Segment> segments;                       // in order of address
  std::vector<Annotation> annotations;
  std::vector<Setting> settings;
  bool has_settings = false;
  bool has_segments = false;  // true: the file has a list of segments, possibly empty

  // Pinned host memory (releases since 2026): history and segments of its caching allocator.
  std::vector<EventRange> host_trace;
  std::vector<Segment> host_segments;

  uint64_t bytes_read = 0;   // size of the uncompressed pickle or JSON
  uint64_t odd_records = 0;  // list elements that are not events, segments or blocks

  [[nodiscard]] std::string_view Text(uint32_t id) const { return texts[id]; }
  [[nodiscard]] uint64_t event_count(size_t device) const {
    uint64_t sum = 0;
    for (const EventRange& range : device_traces[device]) sum += range.count;
    return sum;
  }
};

// Calls visit(event) for each event, in order.
template <typename Visit>
void ForEachEvent(const Snapshot& snapshot, const std::vector<EventRange>& ranges, const Visit& visit) {
  for (const EventRange& range : ranges) {
    for (uint32_t i = 0; i < range.count; ++i) visit(snapshot.events[range.first + i]);
  }
}
template <typename Visit>
void ForEachEvent(const Snapshot& snapshot, size_t device, const Visit& visit) {
  ForEachEvent(snapshot, snapshot.device_traces[device], visit);
}

}  // namespace vramscope::snapshot
