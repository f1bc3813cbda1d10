// SPDX-License-Identifier: Apache-2.0
#include "profiler/leaks/growth.h"

#include <fmt/format.h>

#include <utility>

#include "profiler/report/device_choice.h"
#include "profiler/timeline/curve.h"

namespace vramscope::leaks {
namespace {

// Slope of the allocated bytes at the ends of the judged steps, in bytes per step.
int64_t Slope(const Answer& answer) {
  const size_t first = answer.first_judged - 1;
  const auto n = static_cast<double>(answer.last_judged - first);
  double sum_xy = 0, sum_y = 0;
  for (size_t i = first; i < answer.last_judged; ++i) {
    const auto bytes = static_cast<double>(answer.ends[i].bytes);
    sum_y += bytes;
    sum_xy += static_cast<double>(i - first) * bytes;
  }
  const double mean_x = (n - 1) / 2;
  return static_cast<int64_t>((sum_xy - mean_x * sum_y) / (n * (n * n - 1) / 12));
}

std::vector<HostGrowth> HostGrowths(const classify::Analysis& analysis, model::ProcessIndex process) {
  const auto memory = report::FindHostMemory(analysis.run(), process, analysis.training()[process]);
  std::vector<HostGrowth> found;
  if (!memory.has_value()) return found;
  if (memory->main.growth.has_value()) found.push_back({memory->main.pid, 1, *memory->main.growth});
  if (memory->workers_growth.has_value())
    found.push_back({0, static_cast<uint32_t>(memory->workers.size()), *memory->workers_growth});
  return found;
}

}  // namespace

Result<Answer> FindGrowth(const classify::Analysis& analysis, const report::Request& request) {
  const model::Run& run = analysis.run();
  std::vector<timeline::DeviceCurve> curves;
  for (model::DeviceIndex device = 0; device < run.devices.size(); ++device) curves.emplace_back(run, device);
  const model::DeviceIndex device = VRAMSCOPE_TRY(report::ChooseDevice(run, curves, request));
  if (device == model::kNone) return report::NothingAllocated(run, "nothing can grow");
  const timeline::DeviceCurve& curve = curves[device];
  const model::ProcessIndex process = curve.device().process;
  Answer answer{
      growth::FindGrowth(analysis, curve, growth::EndOfTraining(analysis, process)), {}, 0, 0, {}, {}};
  if (answer.steps < growth::kFewestSteps) {
    return Error{fmt::format("{} finished step{}: judging growth needs at least {}. Record more steps.",
                             answer.steps, answer.steps == 1 ? "" : "s", growth::kFewestSteps)};
  }
  for (const timeline::Step& step : analysis.training()[process].steps()) {
    if (step.complete) answer.ends.push_back({step.number, curve.AllocatedAfter(step.end - 1)});
  }
  answer.bytes_per_step = Slope(answer);
  answer.host = HostGrowths(analysis, process);
  answer.device = curve.device().name;
  answer.pid = run.processes[process].info.pid;
  return answer;
}

}  // namespace vramscope::leaks
