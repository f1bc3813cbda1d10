// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/leaks_view.h"

#include "profiler/growth/words.h"

namespace vramscope::viewer {

std::string LeaksHeadline(const leaks::Answer& answer) {
  if (answer.leaks.empty()) return "Nothing grows from step to step.";
  return growth::Headline(answer.leaks);
}

std::string FilterFor(const leaks::Growth& growth) {
  std::string filter;
  const auto add = [&](const char* column, const std::string& value) {
    // A word of the filter has no spaces.
    if (value.empty() || value.find(' ') != std::string::npos) return;
    filter += (filter.empty() ? "" : " ") + std::string(column) + ":" + value;
  };
  if (growth.pinned_host) return filter;  // no blocks of the device
  add("module", growth.module);
  add("op", growth.op);
  return filter;
}

void LeaksView::Update(const Document& document, const DeviceView& device,
                       const std::function<void()>& wake) {
  answer_.Update(&device, wake, [&document, &device] {
    report::Request request;
    request.device = document.run->devices[device.index].name;
    request.pid = document.run->processes[document.run->devices[device.index].process].info.pid;
    return leaks::FindGrowth(*document.analysis, request);
  });
}

}  // namespace vramscope::viewer
