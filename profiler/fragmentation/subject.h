// SPDX-License-Identifier: Apache-2.0
// The input of the fragmentation analysis: one device's history, and other facts from the file: names of
// blocks, steps, failures, the driver's free memory.
//
// Why: a PyTorch snapshot and a trace contain different facts about the same allocator. Each file reader
// fills in a Subject. Unknown members stay empty; `notes` has a sentence if the user must know.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/fragmentation/circumstances.h"
#include "profiler/fragmentation/layout_walk.h"
#include "profiler/fragmentation/rules.h"
#include "profiler/model/ids.h"

namespace vramscope::fragmentation {

// The known facts about a block.
struct BlockText {
  std::optional<uint64_t> number;   // 1-based allocation number in the trace
  std::string name;                 // "layers.0.weight"; "" = unnamed
  std::string category;             // a key like "activation"; "" = unknown
  std::string module;               // the module that allocated it; "" = unknown
  std::string op;                   // the operator or autograd node that allocated it; "" = unknown
  std::vector<std::string> frames;  // the stack of its allocation, innermost first
};

// A request that the allocator could not serve.
struct Failure {
  Moment moment = 0;       // the state in which the request failed
  uint64_t requested = 0;  // requested bytes; if `rounded`, only the rounded size is known
  bool rounded = false;
  std::optional<uint64_t> driver_free;  // the driver's free bytes at that moment
  allocator::StreamIndex stream = 0;
  allocator::PoolIndex pool = allocator::kDefaultPool;
  std::vector<std::string> frames;  // innermost first
  uint64_t total_allocated = 0;     // as the allocator reported it; 0 = not reported
  uint64_t total_reserved = 0;
};

struct StepSpan {
  uint32_t number = 0;
  Moment begin = 0;
  Moment end = 0;
};

// The step and phase of a moment.
struct Place {
  uint32_t step = 0;  // 0 = outside of all steps
  std::string phase;  // "forward"; "" = unknown
};

struct Subject {
  allocator::History history;
  Rules rules;
  std::string source;  // "trace" or "snapshot"
  std::string device = "cuda:0";
  std::optional<uint32_t> pid;
  std::optional<uint32_t> rank;
  std::string about = "cuda:0";     // device, process and rank in words
  uint32_t others = 0;              // number of other devices or processes that match and are left out
  bool counts_events = false;       // times are event numbers: model::Run::counts_events
  uint64_t start_monotonic_ns = 0;  // time 0 on CLOCK_MONOTONIC; 0 = unknown
  bool has_layout = false;          // segments are known; without them there are only totals
  bool requests_known = true;       // requested bytes are recorded, not only block sizes
  bool streams_known = true;
  // The total memory available to PyTorch's allocator: its reserved bytes plus the driver's free bytes. Each
  // entry is valid from its moment on.
  struct Room {
    Moment from = 0;
    uint64_t bytes = 0;
  };
  std::vector<Room> room;
  std::vector<Failure> failures;
  size_t main_failure = 0;  // index into `failures`: the failure that the moment "oom" means
  // For each event of the history, the event of the run that it comes from, in order. nullptr if the file was
  // not loaded as a run.
  std::shared_ptr<const std::vector<model::EventIndex>> origins;
  uint64_t run_events = 0;  // events of the run, of all devices; known with `origins`
  std::vector<StepSpan> steps;
  std::vector<std::string> notes;

  // Describes a live block at a moment.
  std::function<BlockText(const Block&, Moment)> describe = [](const Block&, Moment) { return BlockText{}; };
  // The circumstances of failure `index`.
  std::function<Circumstances(size_t index)> circumstances = [](size_t) { return Circumstances{}; };
  std::function<Place(Moment)> place = [](Moment) { return Place{}; };

  // The state after this event of the run; kNever: before all events. Needs `origins`.
  [[nodiscard]] Moment MomentAfter(model::EventIndex event) const;
  // Number of events of the run before the moment; 0 without `origins`.
  [[nodiscard]] uint64_t TraceEvents(Moment moment) const;
  // The moment after the last event at or before this time. 0 if all events are later.
  [[nodiscard]] Moment MomentAt(uint64_t time_ns) const;
  // The time of the moment's last event; 0 for the state before the first event.
  [[nodiscard]] uint64_t TimeOf(Moment moment) const;
  // The driver's free bytes, if known.
  [[nodiscard]] std::optional<uint64_t> DriverFree(Moment moment, uint64_t reserved) const;
};

}  // namespace vramscope::fragmentation
