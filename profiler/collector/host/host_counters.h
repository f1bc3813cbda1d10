// SPDX-License-Identifier: Apache-2.0
// Host memory in the trace: writes a counter event for each sample that changed.
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

  // HostSample::key is the process's number in the trace. `start_monotonic_ns`: time 0 of the trace. Call
  // after all records older than the samples are in the trace, because times in a trace never decrease.
  void Add(std::span<const HostSample> samples, uint64_t start_monotonic_ns);

 private:
  struct Process {
    uint32_t thread = 0;  // in the trace; belongs to no real thread
    HostFigures written;
  };
  Process& Of(uint32_t trace_process);

  TraceOutput& output_;
  std::map<uint32_t, Process> processes_;
};

}  // namespace vramscope::collector
