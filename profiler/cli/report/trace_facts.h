// SPDX-License-Identifier: Apache-2.0
// What `vramscope info` tells of a trace, gathered in one pass over its events and without an analysis.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/coverage.h"
#include "profiler/model/source.h"

namespace vramscope::cli {

struct ProcessFacts {
  trace::ProcessInfo info;
  std::string role;  // "main", "child" (exec'ed), "worker" (forked); empty = the trace does not say
  uint64_t events = 0;
};

struct DeviceFacts {
  uint64_t code = 0;
  uint64_t allocations = 0;
  uint64_t allocated_bytes = 0;  // all blocks that were ever handed out
};

// Calls of the CUDA driver that give or take memory.
struct DriverFacts {
  uint64_t calls = 0;
  uint64_t failed = 0;                         // of those
  uint64_t samples = 0;                        // of what the driver says is in use
  std::map<std::string, uint64_t> by_library;  // calls that took memory, by the caller's file name
};

// What the program named through NVTX.
struct NvtxFacts {
  uint64_t ranges = 0;
  std::map<std::string, uint64_t> by_name;       // "domain:message" -> ranges
  std::map<std::string, uint64_t> memory_names;  // of heaps and regions -> how often given
};

struct TraceFacts {
  std::vector<ProcessFacts> processes;
  std::vector<DeviceFacts> devices;  // by code
  DriverFacts driver;
  NvtxFacts nvtx;
  std::vector<model::Hook> hooks;           // by name
  std::map<std::string, uint64_t> by_type;  // events
  uint64_t events = 0;
  uint64_t first_time_ns = 0;  // of the events
  uint64_t last_time_ns = 0;
  uint64_t dropped_events = 0;  // by the recorder, and those that came after it had stopped
  // Optimizer steps of the optimizer that steps least often, in the process where there are most: a first
  // guess without an analysis.
  uint64_t steps = 0;
};

TraceFacts GatherFacts(const model::Source& source);

}  // namespace vramscope::cli
