// SPDX-License-Identifier: Apache-2.0
// The model of a recorded run: its processes, the lifetimes of its blocks, and the recorded facts about each
// block.
//
//   trace (events) ──Load──► Run ──► timeline (steps, phases, totals) ──► classify (categories, names)
//                                                                           └──► report, viewer, ...
//
// Reports and the viewer read this model. It contains only recorded facts; other folders derive steps, phases
// and categories from them. Contradictions in the trace are counted in `anomalies` and do not stop loading.
// After Load(), a run does not change, and any number of threads may read it.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/block.h"
#include "profiler/model/chunked.h"
#include "profiler/model/context_tree.h"
#include "profiler/model/driver_level.h"
#include "profiler/model/ids.h"
#include "profiler/model/source.h"
#include "profiler/model/time_index.h"

namespace vramscope::model {

// An allocation or a free, which changed the allocated bytes of a device.
struct Change {
  static constexpr uint32_t kFreed = 1;

  EventIndex event = 0;
  uint32_t block_and_kind = 0;

  Change() = default;
  Change(EventIndex at, BlockId block, bool freed)
      : event(at), block_and_kind(block << 1 | (freed ? kFreed : 0)) {}
  [[nodiscard]] BlockId block() const { return block_and_kind >> 1; }
  [[nodiscard]] bool freed() const { return (block_and_kind & kFreed) != 0; }
};
inline constexpr BlockId kMaxBlocks = 1u << 31;

// A device as one process sees it.
struct Device {
  ProcessIndex process = 0;
  uint16_t code = 0;           // trace::DeviceCode
  std::string name;            // "cpu", "cuda:0"
  Chunked<Change, 6> changes;  // small chunks: a file may name devices by the thousand
  // Allocated bytes without a recorded allocation (made before the recording began, or lost): the total that
  // the allocator reports minus the recorded blocks. Empty if the difference is always 0, or if the allocator
  // reports no totals (CPU).
  std::vector<Since> unseen;
  std::vector<Since> reserved;  // reserved bytes that the allocator reports; empty if it reports none
};

struct Process {
  trace::ProcessInfo info;
  std::vector<DeviceIndex> devices;
  std::vector<uint32_t> ranges;  // into Run::ranges, in order of their begin
  std::vector<uint32_t> marks;   // into Run::marks
  // The first kSaved event after each begin and each end of a backward, optimizer or data loader range.
  std::vector<EventIndex> first_saves;
  uint64_t events = 0;
};

struct Thread {
  trace::ThreadInfo info;
  ProcessIndex process = 0;
};

struct Range {
  EventIndex begin = 0;
  EventIndex end = kNever;  // kNever = the trace has no end of this range
  ThreadIndex thread = 0;
  trace::RangeKind kind{};
  uint32_t name = 0;        // trace::StringId
  uint32_t parent = kNone;  // the range around it on the same thread
  uint64_t id = 0;
};

struct Mark {
  EventIndex event = 0;
  ThreadIndex thread = 0;
  trace::MarkKind kind{};
  uint32_t name = 0;
  uint64_t value = 0;
  uint64_t tensor = 0;
};

struct OutOfMemory {
  EventIndex event = 0;
  ThreadIndex thread = 0;
  uint16_t device_code = 0;
  uint32_t stack = 0;
  uint64_t requested = 0;
  uint64_t total_allocated = 0;
  uint64_t total_reserved = 0;
};

struct CounterSample {
  EventIndex event = 0;
  ProcessIndex process = 0;
  uint32_t name = 0;
  uint32_t device = 0;
  uint64_t value = 0;
};

// The caching allocator took memory from the driver or returned it. Only traces that were converted from a
// snapshot have these records; other traces have DriverLevel::segments.
struct SegmentChange {
  EventIndex event = 0;
  ProcessIndex process = 0;
  uint16_t device_code = 0;
  bool came = false;    // true = taken from the driver, false = returned to the driver
  bool mapped = false;  // true = pages of an expandable segment
  uint64_t address = 0;
  uint64_t size = 0;
  uint16_t stream = 0;  // into Run::streams
};

// A free has completed: no stream uses the block any more. Only traces with the metadata kFreesKey (source.h)
// have these records.
struct FreeCompletion {
  EventIndex event = 0;
  ProcessIndex process = 0;
  uint16_t device_code = 0;
  uint64_t address = 0;
};

struct Loss {
  ThreadIndex thread = 0;
  uint64_t count = 0;
  uint64_t first_ns = 0;
  uint64_t last_ns = 0;
};

struct Coverage {
  ProcessIndex process = 0;
  std::string hook;
  trace::CoverageState state{};  // the last state reported
  std::string detail;
};

// The number of contradictions of each kind in the trace. They do not stop the analysis.
struct Anomalies {
  // Allocations at the address of a live block. The live block is then assumed to be freed.
  uint64_t double_allocs = 0;
  uint64_t unknown_frees = 0;    // frees of an address that is not alive
  uint64_t inherited_frees = 0;  // frees by a forked child of memory from its parent
  uint64_t size_mismatches = 0;  // frees with another size than the block's allocation
  // Labels and saves of memory outside all recorded blocks (from_numpy, mapped files, allocated before
  // attach).
  uint64_t labels_without_block = 0;
  uint64_t saves_without_block = 0;
  uint64_t releases_without_save = 0;    // autograd released a reference without a recorded save
  uint64_t unbalanced_ranges = 0;        // ends without a begin, and ranges that ended with an outer range
  uint64_t late_events = 0;              // events with an earlier time than the event before them
  uint64_t bad_events = 0;               // events of an undefined thread or type
  uint64_t total_mismatches = 0;         // the allocator's own total differs from the sum of the blocks
  uint64_t not_loaded = 0;               // events after the first kMaxEvents
  uint64_t driver_double_allocs = 0;     // allocations of the driver at an address without a recorded free
  uint64_t driver_unknown_frees = 0;     // frees of driver memory without a recorded allocation
  uint64_t blocks_outside_segments = 0;  // blocks of the caching allocator outside all recorded segments
  uint64_t segment_mismatches = 0;       // the caching allocator's reserved total differs from its segments
  uint64_t driver_mismatches = 0;  // samples of used memory that contradict the calls since the last sample
  uint64_t driver_below_rows = 0;  // samples of used memory below the sum of the recorded allocations

  friend bool operator==(const Anomalies&, const Anomalies&) = default;
};

struct Run {
  std::shared_ptr<const Source> source;  // texts, stacks, metadata, damage

  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Device> devices;
  std::vector<uint64_t> streams;  // raw stream handles; [0] is the default stream 0

  TimeIndex times;
  Chunked<Block> blocks;  // in order of allocation; index: BlockId
  Chunked<BlockFacts> facts;
  Chunked<Label> labels;
  std::vector<Range> ranges;  // in order of their begin
  std::vector<Mark> marks;
  std::vector<OutOfMemory> out_of_memory;
  std::vector<CounterSample> counters;
  std::vector<SegmentChange> segment_changes;
  std::vector<FreeCompletion> free_completions;
  std::vector<Loss> losses;
  std::vector<Coverage> coverage;
  ContextTree contexts;
  DriverLevel driver;
  std::array<uint64_t, trace::kEventTypeCount> event_counts = {};
  Anomalies anomalies;

  [[nodiscard]] EventIndex event_count() const { return times.size(); }
  [[nodiscard]] std::string_view Text(uint32_t id) const { return source->String(id); }
  [[nodiscard]] ProcessIndex ProcessOf(const Block& block) const { return threads[block.thread].process; }
  // Returns the first block that was allocated at or after `event`; blocks.size() if there is none. O(log
  // blocks).
  [[nodiscard]] BlockId FirstBlockFrom(EventIndex event) const;
  [[nodiscard]] DeviceIndex DeviceOf(const Block& block) const;
  [[nodiscard]] const BlockFacts* FactsOf(const Block& block) const {
    return block.facts == kNone ? nullptr : &facts[block.facts];
  }
  // Returns the facts of a block; adds empty facts if the block has none. Valid until the next call.
  [[nodiscard]] BlockFacts& MakeFacts(BlockId id);
  [[nodiscard]] uint64_t lost_events() const;
  // True if the trace has the order of its events but not their times. Times are then event numbers.
  [[nodiscard]] bool counts_events() const;
};

// Returns the name of a device: "cpu", "cuda:0"; "cuda" without an index; "device 23:1" for an unknown type.
[[nodiscard]] std::string DeviceName(uint64_t device_code);

// Reads all events of `source`. Returns an error only if nothing can be read. If a part of the file is
// damaged, loads the readable events; source->damage() describes the damage.
[[nodiscard]] Result<Run> Load(std::shared_ptr<const Source> source);
// Calls `progress` with the number of loaded events and of all events. Stops loading if `progress` returns
// false.
using Progress = std::function<bool(uint64_t done, uint64_t total)>;
[[nodiscard]] Result<Run> Load(std::shared_ptr<const Source> source, const Progress& progress);
[[nodiscard]] Result<Run> LoadFile(const std::string& path);

}  // namespace vramscope::model
