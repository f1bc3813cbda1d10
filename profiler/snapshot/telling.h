// SPDX-License-Identifier: Apache-2.0
// Converts the events of a snapshot to trace events, in one pass over all devices, in order of time. Three
// kinds of data need an explanation:
//
//   in the snapshot      in the trace
//   pinned host memory   segment_alloc and segment_free become driver_alloc and driver_free (host_pinned)
//   user_metadata        a mark when the text changes; each block gets the current text as its name
//   annotate             a name of the block
//
// profiler/snapshot/source.h describes the whole conversion.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/model/flat_map.h"
#include "profiler/model/source.h"
#include "profiler/snapshot/free_halves.h"
#include "profiler/snapshot/snapshot.h"
#include "profiler/snapshot/time_axis.h"
#include "profiler/snapshot/timeline.h"

namespace vramscope::snapshot {

// The prefix of optimizer annotations.
inline constexpr std::string_view kOptimizerStep = "Optimizer.step#";

// The data that is converted.
struct Told {
  const Snapshot& snapshot;
  const TimeAxis& axis;
  const std::vector<DeviceTimeline>& timelines;  // one for each device
  const std::vector<Annotation>& annotations;    // of one device, in order of time
  trace::StringId host_api = 0;                  // name of the call that allocates pinned memory
  trace::StringId host_library = 0;              // name of the library that makes this call
};

class Telling {
 public:
  Telling(const Told& told, const model::Source::Visit& visit);

  // A function that Run() calls after each event of a device. `in_batch`: number of trace events that are not
  // passed to the visitor yet.
  using Watcher = std::function<void(uint32_t device, size_t in_batch)>;
  void Watch(Watcher watcher) { watcher_ = std::move(watcher); }

  // Converts all events and passes them to the visitor in batches.
  void Run();

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Place {
    uint32_t range = 0;
    uint32_t within = 0;
    uint32_t number = 0;
  };
  struct DeviceState {
    HeldMemory memory;
    FreeHalves frees;
    uint64_t allocated = 0;
    model::FlatMap live;  // address of a live block -> index into sizes
    std::vector<uint64_t> sizes;
  };

  // The events are in one history for each device, and one for pinned host memory, whose number is host().
  [[nodiscard]] uint32_t host() const { return static_cast<uint32_t>(devices_.size()); }
  [[nodiscard]] const std::vector<EventRange>& HistoryAt(uint32_t which) const;
  [[nodiscard]] const Event& EventAt(uint32_t which, const Place& place) const;
  [[nodiscard]] uint32_t NextHistory(const std::vector<Place>& places) const;

  trace::Event& New(trace::EventType type, uint64_t time_ns);
  void Send();

  [[nodiscard]] bool IsExpandable(uint32_t device) const;
  void TellBeginning(uint32_t device);
  // `change`: bits of trace::segment.
  void TellMemory(uint32_t device, const MemoryRange& range, uint64_t change, uint64_t time_ns);
  void TellAlloc(uint32_t device, const EarlierBlock& block, uint64_t time_ns);
  void TellFree(uint32_t device, const Event& from, uint64_t time_ns);
  void TellCompletion(uint32_t device, uint64_t address, uint64_t time_ns);
  void SayTotals(uint32_t device, trace::Event& event, size_t allocated, size_t reserved) const;
  void Tell(uint32_t device, const Event& from, uint32_t number, uint64_t time_ns);
  void TellHostBeginning();
  void TellHost(uint64_t address, uint64_t bytes, bool came, uint64_t time_ns);
  void TellMetadata(const Event& from, uint64_t time_ns);
  void TellName(uint64_t address, uint64_t bytes, uint32_t name, trace::LabelSource source, uint64_t time_ns);
  void TellAnnotations(uint64_t time_us);

  const Told told_;
  const Snapshot& snapshot_;
  const model::Source::Visit& visit_;
  Watcher watcher_;
  bool frees_apart_ = false;  // true if each free needs two events (requested and completed) on a device
  std::vector<DeviceState> devices_;
  std::vector<trace::Event> batch_;
  std::unordered_map<uint32_t, uint64_t> steps_;  // name of an optimizer -> number of its steps
  size_t next_annotation_ = 0;
  uint32_t metadata_ = 0;  // the current user_metadata; 0 = none
  uint64_t last_ns_ = 0;
  bool stopped_ = false;
};

}  // namespace vramscope::snapshot
