// SPDX-License-Identifier: Apache-2.0
// The input of the fragmentation analysis: one device's history, and other facts from a snapshot or trace.
// Unknown members stay empty. If the user must know that, `notes` has a sentence about it.
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
  Moment moment = 0;       // the state in which the request failed
  uint64_t requested = 0;  // bytes; if `rounded`, the rounded size
  bool rounded = false;
  std::optional<uint64_t> driver_free;
  allocator::StreamIndex stream = 0;
  allocator::PoolIndex pool = allocator::kDefaultPool;
  std::vector<std::string> frames;  // innermost first
  uint64_t total_allocated = 0;     // as reported; 0 = not reported
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
  uint32_t others = 0;              // other matching devices or processes
  bool counts_events = false;       // see model::Run::counts_events
  uint64_t start_monotonic_ns = 0;  // time 0 on CLOCK_MONOTONIC; 0 = unknown
  bool has_layout = false;          // segments are known
  bool requests_known = true;       // requested bytes are recorded
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
  // For each event of the history, the event of the run that it comes from. nullptr if no run was loaded.
  std::shared_ptr<const std::vector<model::EventIndex>> origins;
  uint64_t run_events = 0;  // on all devices; 0 without `origins`
  std::vector<StepSpan> steps;
  std::vector<std::string> notes;

  std::function<BlockText(const Block&, Moment)> describe = [](const Block&, Moment) { return BlockText{}; };
  std::function<Circumstances(size_t index)> circumstances = [](size_t) { return Circumstances{}; };
  std::function<Place(Moment)> place = [](Moment) { return Place{}; };

  // The state after this event of the run. kNever: before all events. Needs `origins`.
  [[nodiscard]] Moment MomentAfter(model::EventIndex event) const;
  // Events of the run before the moment; 0 without `origins`.
  [[nodiscard]] uint64_t TraceEvents(Moment moment) const;
  // The moment after the last event at or before this time, or 0.
  [[nodiscard]] Moment MomentAt(uint64_t time_ns) const;
  // The time of the moment's last event, or 0.
  [[nodiscard]] uint64_t TimeOf(Moment moment) const;
  [[nodiscard]] std::optional<uint64_t> DriverFree(Moment moment, uint64_t reserved) const;
};

}  // namespace vramscope::fragmentation
