// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/host/host_counters.h"

#include <algorithm>

namespace vramscope::collector {

HostCounters::Process& HostCounters::Of(uint32_t trace_process) {
  const auto [found, fresh] = processes_.try_emplace(trace_process);
  if (fresh) found->second.thread = output_.writer().AddThread({trace_process, 0, "host memory"});
  return found->second;
}

void HostCounters::Add(std::span<const HostSample> samples, uint64_t start_monotonic_ns) {
  for (const HostSample& sample : samples) {
    Process& process = Of(sample.key);
    for (const HostFigureName& figure : kHostFigures) {
      const uint64_t value = sample.figures.*figure.figure;
      if (value == process.written.*figure.figure) continue;
      trace::Event event;
      event.type = trace::EventType::kCounter;
      event.thread = process.thread;
      event.time_ns = sample.monotonic_ns - std::min(sample.monotonic_ns, start_monotonic_ns);
      event.field[trace::counter::kName] = output_.writer().InternString(figure.name);
      event.field[trace::counter::kValue] = value;
      event.field[trace::counter::kDevice] = trace::DeviceCode(0, 0xff);
      output_.Add(event);
    }
    process.written = sample.figures;
  }
}

}  // namespace vramscope::collector
