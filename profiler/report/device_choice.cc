// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/device_choice.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace vramscope::report {
namespace {

using model::DeviceIndex;

bool Matches(const model::Run& run, const model::Device& device, const Request& request) {
  const bool name_fits = !request.device.has_value() || device.name == *request.device;
  const bool process_fits =
      !request.pid.has_value() || run.processes[device.process].info.pid == *request.pid;
  return name_fits && process_fits;
}

// "cpu (process 100), cuda:0 (process 100)", the first few.
std::string DeviceList(const model::Run& run) {
  constexpr size_t kMost = 8;
  std::string list;
  for (size_t i = 0; i < run.devices.size() && i < kMost; ++i) {
    const model::Device& device = run.devices[i];
    if (i > 0) list += ", ";
    list += device.name + " (process " + std::to_string(run.processes[device.process].info.pid) + ")";
  }
  return run.devices.size() > kMost ? list + ", ..." : list;
}

Error NoSuchDevice(const model::Run& run, const Request& request) {
  std::string wanted = request.device.value_or("a device");
  if (request.pid.has_value()) wanted += " of process " + std::to_string(*request.pid);
  if (run.devices.empty())
    return Error{"nothing was allocated in this run, so there is no " + wanted + " to report."};
  return Error{"this run has no allocations on " + wanted + "; it has " + DeviceList(run) + "."};
}

// Whether the process ran a backward pass or an optimizer.
bool Trains(const model::Run& run, model::ProcessIndex process) {
  const std::vector<uint32_t>& ranges = run.processes[process].ranges;
  return std::any_of(ranges.begin(), ranges.end(), [&](uint32_t index) {
    const trace::RangeKind kind = run.ranges[index].kind;
    return kind == trace::RangeKind::kBackward || kind == trace::RangeKind::kOptimizer;
  });
}

}  // namespace

Result<DeviceIndex> ChooseDevice(const model::Run& run, const std::vector<timeline::DeviceCurve>& curves,
                                 const Request& request) {
  DeviceIndex best = model::kNone;
  const auto rank = [&](DeviceIndex device) {
    const bool is_accelerator = trace::DeviceTypeOf(run.devices[device].code) != 0;
    // On CPU a data loader's worker may hold more than the training that it feeds: a matter of who is ahead.
    const bool concerns = is_accelerator || Trains(run, run.devices[device].process);
    return std::tuple(is_accelerator, concerns, curves[device].peak().bytes);
  };
  for (DeviceIndex device = 0; device < curves.size(); ++device) {
    if (!Matches(run, run.devices[device], request)) continue;
    if (best == model::kNone || rank(device) > rank(best)) best = device;
  }
  const bool named = request.device.has_value() || request.pid.has_value();
  if (best == model::kNone && named) return NoSuchDevice(run, request);
  return best;
}

}  // namespace vramscope::report
