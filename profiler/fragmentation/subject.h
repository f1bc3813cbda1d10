// SPDX-License-Identifier: Apache-2.0
// What fragmentation is asked about: one device's history, with what the file knows around it: the names of
// blocks, steps, failures, what the driver had left.
//
// Why: a snapshot of PyTorch and a trace know different things of the same allocator. Whatever reads a file
// fills this in; what it does not know stays empty, with a sentence in `notes` where a reader must know that.
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

// Who has a block.
struct BlockText {
  std::optional<uint64_t> number;   // the how-manieth allocation of the trace, from 1
  std::string name;                 // "layers.0.weight"; "" = nobody named it
  std::string category;             // a key like "activation"; "" = not known
  std::string module;               // of its birth; "" = not known
  std::string op;                   // the operator or the autograd node of its birth; "" = not known
  std::vector<std::string> frames;  // of its birth, innermost first
};

// An allocator gave up.
struct Failure {
  Moment moment = 0;       // the state in which the request failed
  uint64_t requested = 0;  // bytes; rounded where only that is known
  bool rounded = false;
  std::optional<uint64_t> driver_free;  // what the driver said was free then
  allocator::StreamIndex stream = 0;
  allocator::PoolIndex pool = allocator::kDefaultPool;
  std::vector<std::string> frames;  // innermost first
  uint64_t total_allocated = 0;     // as the allocator said; 0 = it did not
  uint64_t total_reserved = 0;
};

struct StepSpan {
  uint32_t number = 0;
  Moment begin = 0;
  Moment end = 0;
};

// Where a moment lies in the training.
struct Place {
  uint32_t step = 0;  // 0 = outside of all steps
  std::string phase;  // "forward"; "" = not known
};

struct Subject {
  allocator::History history;
  Rules rules;
  std::string source;  // "trace" or "snapshot"
  std::string device = "cuda:0";
  std::optional<uint32_t> pid;
  std::optional<uint32_t> rank;
  std::string about = "cuda:0";     // device, process and rank in words
  uint32_t others = 0;              // devices of processes that were meant too and are left out
  bool counts_events = false;       // times are event numbers: model::Run::counts_events
  uint64_t start_monotonic_ns = 0;  // time 0 on CLOCK_MONOTONIC; 0 = not known
  bool has_layout = false;          // segments are known; without them there are only totals
  bool requests_known = true;       // what the program asked for is recorded, not only the sizes of blocks
  bool streams_known = true;
  // The memory that PyTorch's allocator could have in all: its own and what the driver has left. Each holds
  // from its moment on.
  struct Room {
    Moment from = 0;
    uint64_t bytes = 0;
  };
  std::vector<Room> room;
  std::vector<Failure> failures;
  size_t main_failure = 0;  // into `failures`: which one "oom" means
  // For each event of the history the event of the run that it is made of, in order; empty where the file was
  // not loaded as a run.
  std::shared_ptr<const std::vector<model::EventIndex>> origins;
  std::vector<StepSpan> steps;
  std::vector<std::string> notes;

  // Text about a live block at a moment.
  std::function<BlockText(const Block&, Moment)> describe = [](const Block&, Moment) { return BlockText{}; };
  // What the program did around failure `index`.
  std::function<Circumstances(size_t index)> circumstances = [](size_t) { return Circumstances{}; };
  std::function<Place(Moment)> place = [](Moment) { return Place{}; };

  // The state after this event of the run; kNever: before all events. Needs `origins`.
  [[nodiscard]] Moment MomentAfter(model::EventIndex event) const;
  // How many events of the run had happened; 0 without `origins`.
  [[nodiscard]] uint64_t TraceEvents(Moment moment) const;
  // The moment after the last event at or before this time. 0 when all are later.
  [[nodiscard]] Moment MomentAt(uint64_t time_ns) const;
  // When the state of the moment began; 0 for the state before the first event.
  [[nodiscard]] uint64_t TimeOf(Moment moment) const;
  // What the driver could still give, where it is known.
  [[nodiscard]] std::optional<uint64_t> DriverFree(Moment moment, uint64_t reserved) const;
};

}  // namespace vramscope::fragmentation
