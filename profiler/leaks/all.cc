// SPDX-License-Identifier: Apache-2.0
#include "profiler/leaks/all.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "profiler/report/spoken_json.h"
#include "profiler/text/json_dump.h"

namespace vramscope::leaks {
namespace {

using Json = nlohmann::ordered_json;
using model::DeviceIndex;

Json DeviceJson(const DeviceGrowth& device) {
  Json json = device.growth.ok() ? Json::parse(ToJson(*device.growth)) : Json::object();
  report::AddSpoken(device.spoken, json);
  json["why_not_judged"] = device.growth.ok() ? Json(nullptr) : Json(device.growth.error().sentence);
  return json;
}

}  // namespace

uint64_t BytesPerStep(const Answer& answer) {
  uint64_t bytes = 0;
  for (const Growth& growth : answer.leaks) bytes += growth.bytes_per_step;
  return bytes;
}

Result<std::vector<DeviceGrowth>> FindGrowthOfAll(const classify::Analysis& analysis,
                                                  const report::Request& request) {
  const model::Run& run = analysis.run();
  auto devices = VRAMSCOPE_TRY(report::ChooseDevices(run, report::CurvesOf(run), request));
  if (devices.empty()) return report::NothingAllocated(run, "nothing can grow");
  const auto has_steps = [&](DeviceIndex device) {
    return !analysis.training()[run.devices[device].process].steps().empty();
  };
  if (std::any_of(devices.begin(), devices.end(), has_steps))
    std::erase_if(devices, [&](DeviceIndex device) { return !has_steps(device); });
  std::vector<DeviceGrowth> all;
  for (const DeviceIndex device : devices) {
    report::Request one;
    one.device = run.devices[device].name;
    one.pid = run.processes[run.devices[device].process].info.pid;
    all.push_back({report::SpokenOf(run, device, {}), FindGrowth(analysis, one)});
  }
  const auto grows = [](const DeviceGrowth& device) {
    return std::pair(device.growth.ok(), device.growth.ok() ? BytesPerStep(*device.growth) : 0);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const DeviceGrowth& a, const DeviceGrowth& b) { return grows(a) > grows(b); });
  return all;
}

std::string ToJson(const std::vector<DeviceGrowth>& all) {
  Json document = DeviceJson(all.front());
  document.erase("why_not_judged");
  Json devices = Json::array();
  for (const DeviceGrowth& device : all) devices.push_back(DeviceJson(device));
  document["devices"] = std::move(devices);
  return text::Dump(document);
}

}  // namespace vramscope::leaks
