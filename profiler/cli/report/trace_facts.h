// SPDX-License-Identifier: Apache-2.0
// The facts about a trace that `vramscope info` prints, collected in one pass without an analysis.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/coverage.h"
#include "profiler/model/launch.h"
#include "profiler/model/source.h"

namespace vramscope::cli {

struct ProcessFacts {
  trace::ProcessInfo info;
  std::string role;  // "main", "child" (exec'ed) or "worker" (forked); empty = unknown
  uint64_t events = 0;
  model::Launch launch = {};
};

struct DeviceFacts {
  uint64_t code = 0;
  uint64_t allocations = 0;
  uint64_t allocated_bytes = 0;  // sum over all allocations
};

// CUDA driver calls that allocate or free memory.
struct DriverFacts {
  uint64_t calls = 0;
  uint64_t failed = 0;
  uint64_t samples = 0;                        // samples of the driver's used bytes
  std::map<std::string, uint64_t> by_library;  // calls that allocated memory, by the caller's file name
};

// Names that the program set through NVTX.
struct NvtxFacts {
  uint64_t ranges = 0;
  std::map<std::string, uint64_t> by_name;       // "domain:message" -> ranges
  std::map<std::string, uint64_t> memory_names;  // name -> number of times it was set
};

struct TraceFacts {
  std::vector<ProcessFacts> processes;
  std::vector<DeviceFacts> devices;  // in order of `code`
  DriverFacts driver;
  NvtxFacts nvtx;
  std::vector<model::Hook> hooks;           // in order of name
  std::map<std::string, uint64_t> by_type;  // name of the event type -> events
  uint64_t events = 0;
  uint64_t first_time_ns = 0;   // time of the first event
  uint64_t last_time_ns = 0;    // time of the last event
  uint64_t dropped_events = 0;  // dropped by the recorder, or produced after it had stopped
  // Estimated number of training steps. In each process, the optimizer with the fewest steps counts. The
  // result is the highest count of all processes.
  uint64_t steps = 0;
};

TraceFacts GatherFacts(const model::Source& source);

}  // namespace vramscope::cli
