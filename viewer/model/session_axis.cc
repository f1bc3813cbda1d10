// SPDX-License-Identifier: Apache-2.0
// What the x axis of the session's views counts.
#include "viewer/model/session.h"

namespace vramscope::viewer {

std::shared_ptr<const TimeScale> Session::ScaleFor(const Document& document, const DeviceView& device,
                                                   TimeAxis axis) {
  const model::Run& run = *document.run;
  if (axis == TimeAxis::kStep) return TimeScale::OfSteps(run.times, document.training(device).steps());
  return axis == TimeAxis::kTime || run.counts_events() ? nullptr : TimeScale::OfEvents(run.times);
}

void Session::ShowTimeAxis(TimeAxis axis) {
  if (device() == nullptr || axis == time_axis()) return;
  place.window.SetScale(ScaleFor(*document(), *device(), axis));
}

void Session::ShowAtSameTime(size_t file, size_t device, double later_ns) {
  if (file == place.file) return ShowDevice(device);
  const Place before = place;
  const double moment_ns = MomentTime();
  ShowFile(file);
  place.tab = before.tab;
  ShowDevice(device);
  place.window.Show(before.window.begin() + later_ns, before.window.end() + later_ns);
  SetMomentAt(moment_ns + later_ns);
}

}  // namespace vramscope::viewer
