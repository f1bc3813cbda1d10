// SPDX-License-Identifier: Apache-2.0
// The input of the fragmentation analysis: the allocation history of one device, and other facts from a
// snapshot or trace. Unknown facts stay empty. Some of them are also reported to the user by a sentence in
// `notes`.
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

// The recorded texts about a block.
struct BlockText {
  std::optional<uint64_t> number;   // 1-based allocation number in the trace
  std::string name;                 // "layers.0.weight"; "" = unnamed
  std::string category;             // "activation"; "" = unknown
  std::string module;               // "" = unknown
  std::string op;                   // operator or autograd node; "" = unknown
  std::vector<std::string> frames;  // innermost first
};

// A request that the allocator could not serve.
struct Failure {
  Moment moment = 0;       // state of the allocator in which the request failed
  uint64_t requested = 0;  // requested bytes; the rounded size if `rounded` is true
  bool rounded = false;
  std::optional<uint64_t> driver_free;
  allocator::StreamIndex stream = 0;
  allocator::PoolIndex pool = allocator::kDefaultPool;
  std::vector<std::string> frames;  // innermost first
  uint64_t total_allocated = 0;     // as PyTorch reported it; 0 = not reported
  uint64_t total_reserved = 0;
};

struct StepSpan {
  uint32_t number = 0;
  Moment begin = 0;
  Moment end = 0;
};

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
  uint32_t others = 0;              // number of other devices or processes that match the request
  bool counts_events = false;       // times are event numbers (model::Run::counts_events)
  uint64_t start_monotonic_ns = 0;  // CLOCK_MONOTONIC at time 0 of the trace; 0 = unknown
  bool has_layout = false;          // true if segments were recorded
  bool requests_known = true;       // true if requested bytes were recorded
  bool streams_known = true;
  // The memory available to PyTorch's allocator: reserved bytes plus the driver's free bytes. Each entry is
  // valid from its moment on.
  struct Room {
    Moment from = 0;
    uint64_t bytes = 0;
  };
  std::vector<Room> room;
  std::vector<Failure> failures;
  size_t main_failure = 0;  // index of the failure that the moment "oom" means
  // For each event of the history: the index of its event in the run. nullptr if no run was loaded.
  std::shared_ptr<const std::vector<model::EventIndex>> origins;
  uint64_t run_events = 0;  // number of the run's events on all devices; 0 without `origins`
  std::vector<StepSpan> steps;
  std::vector<std::string> notes;

  std::function<BlockText(const Block&, Moment)> describe = [](const Block&, Moment) { return BlockText{}; };
  std::function<Circumstances(size_t index)> circumstances = [](size_t) { return Circumstances{}; };
  std::function<Place(Moment)> place = [](Moment) { return Place{}; };

  // Returns the moment after this event of the run. kNever: the moment before all events. Requires `origins`.
  [[nodiscard]] Moment MomentAfter(model::EventIndex event) const;
  // Returns the number of the run's events before the moment; 0 without `origins`.
  [[nodiscard]] uint64_t TraceEvents(Moment moment) const;
  // Returns the moment after the last event at or before this time; 0 if there is no such event.
  [[nodiscard]] Moment MomentAt(uint64_t time_ns) const;
  // Returns the time of the last event before the moment; 0 if there is none.
  [[nodiscard]] uint64_t TimeOf(Moment moment) const;
  // Returns the driver's free bytes at the moment, if `reserved` bytes are reserved then; nullopt if unknown.
  [[nodiscard]] std::optional<uint64_t> DriverFree(Moment moment, uint64_t reserved) const;
};

}  // namespace vramscope::fragmentation
