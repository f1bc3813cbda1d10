// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/explain.h"

#include <algorithm>

#include "profiler/report/build.h"
#include "profiler/report/notes.h"

namespace vramscope::report {
namespace {

constexpr const char* kNoGpu =
    "this run used no GPU, so nvidia-smi does not show it. Record a run that uses a GPU, or simulate one: "
    "vramscope dryrun --gpu a100-80gb -- COMMAND.";
constexpr const char* kNoDriver =
    "no CUDA driver calls were recorded in this run, so memory outside the framework's tensors is not known. "
    "Record the run again: vramscope record -- COMMAND.";

bool TensorsOnGpu(const model::Run& run) {
  return std::any_of(run.devices.begin(), run.devices.end(),
                     [](const auto& device) { return trace::DeviceTypeOf(device.code) != 0; });
}

bool IsMeant(const model::Run& run, const model::DriverDevice& device, const Request& request) {
  const uint32_t pid = run.processes[device.processes.front()].info.pid;
  return request.device.value_or(model::DeviceName(device.code)) == model::DeviceName(device.code) &&
         request.pid.value_or(pid) == pid;
}

// Counts cached memory as allocated: without a cache, no memory of PyTorch is free inside a segment.
void AllIsAllocated(Moment& moment) {
  int64_t& cached = moment.driver->rows[static_cast<size_t>(DeviceRow::kCached)];
  moment.driver->rows[static_cast<size_t>(DeviceRow::kAllocated)] += cached;
  moment.allocated_bytes = static_cast<uint64_t>(std::max<int64_t>(cached, 0));
  cached = 0;
}

// For a GPU that no framework allocator used: the moment with the highest use.
Result<Explanation> WithoutTensors(const model::Run& run, const Request& request) {
  for (const model::DriverDevice& device : run.driver.devices) {
    if (!IsMeant(run, device, request)) continue;
    Explanation explanation;
    const model::ProcessIndex process = device.processes.front();
    explanation.device = model::DeviceName(device.code);
    explanation.pid = run.processes[process].info.pid;
    explanation.moment.asked = "peak";
    explanation.moment.time_ns = run.times.TimeOf(device.peak_event());
    explanation.moment.monotonic_ns = run.source->clock().start_monotonic_ns + explanation.moment.time_ns;
    explanation.moment.driver = DeviceMemoryAfter(run, process, device.code, device.peak_event(), 0);
    explanation.moment.device_used_bytes = explanation.moment.driver->used;
    explanation.caching_off = CachingOff(run.source->metadata());
    if (!explanation.caching_off.empty()) AllIsAllocated(explanation.moment);
    return explanation;
  }
  return Error{kNoDriver};
}

Result<Explanation> FromAnswer(const classify::Analysis& analysis, const Request& request) {
  const Answer answer = VRAMSCOPE_TRY(BuildAnswer(analysis, request));
  Explanation explanation;
  explanation.device = answer.device;
  explanation.pid = answer.pid;
  explanation.moment = answer.moments.empty() ? answer.peak : answer.moments.front();
  if (answer.moments.empty()) explanation.moment.asked = "peak";
  return explanation;
}

}  // namespace

std::string WhyNotExplained(const model::Run& run) {
  if (!run.driver.devices.empty()) return "";
  if (TensorsOnGpu(run)) return kNoDriver;
  const std::string caching_off = CachingOff(run.source->metadata());
  return caching_off.empty() ? kNoGpu : kNoGpu + (" " + caching_off);
}

Result<Explanation> Explain(const classify::Analysis& analysis, const Request& request) {
  const model::Run& run = analysis.run();
  if (const std::string why_not = WhyNotExplained(run); !why_not.empty()) return Error{why_not};
  Explanation explanation =
      VRAMSCOPE_TRY(TensorsOnGpu(run) ? FromAnswer(analysis, request) : WithoutTensors(run, request));
  if (!explanation.moment.driver.has_value()) return Error{explanation.device == "cpu" ? kNoGpu : kNoDriver};

  const DeviceMemory& memory = *explanation.moment.driver;
  for (size_t i = 0; i < kDeviceRowCount; ++i) {
    const auto row = static_cast<DeviceRow>(i);
    if (row == DeviceRow::kAllocated || memory.rows[i] == 0) continue;
    explanation.between.emplace_back(row, memory.rows[i]);
    explanation.difference_bytes += memory.rows[i];
  }
  std::stable_sort(explanation.between.begin(), explanation.between.end(), [](const auto& a, const auto& b) {
    const bool a_last = a.first == DeviceRow::kUnattributed;
    const bool b_last = b.first == DeviceRow::kUnattributed;
    return a_last != b_last ? b_last : a.second > b.second;
  });
  return explanation;
}

}  // namespace vramscope::report
