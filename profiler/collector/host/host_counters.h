// SPDX-License-Identifier: Apache-2.0
// Writes samples of host memory into the trace, as counter events. A figure is written only if it has
// changed.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "profiler/collector/host/host_sampler.h"
#include "profiler/collector/output/trace_output.h"

namespace vramscope::collector {

class HostCounters {
 public:
  // `output` must outlive the object.
  explicit HostCounters(TraceOutput& output) : output_(output) {}

  // Writes `samples`. HostSample::key must be the process's number in the trace. `start_monotonic_ns` is the
  // time at which the trace begins. Call this after all older records have been written, because times in a
  // trace never decrease.
  void Add(std::span<const HostSample> samples, uint64_t start_monotonic_ns);

 private:
  struct Process {
    uint32_t thread = 0;  // thread number in the trace that is reserved for these counters
    HostFigures written;
  };
  Process& Of(uint32_t trace_process);

  TraceOutput& output_;
  std::map<uint32_t, Process> processes_;
};

}  // namespace vramscope::collector
