// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/report/check_evidence.h"

#include <algorithm>
#include <utility>

#include "profiler/cli/frame/progress.h"
#include "profiler/fragmentation/snapshot_subject.h"
#include "profiler/fragmentation/trace_subject.h"
#include "profiler/report/build.h"

namespace vramscope::cli {
namespace {

using check::Rule;
using model::DeviceIndex;

bool Has(const std::vector<Rule>& rules, Rule::Kind kind) {
  return std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) { return rule.kind == kind; });
}

Result<fragmentation::Answer> JudgedFragmentation(const RunFile& file, const classify::Analysis& analysis,
                                                  DeviceIndex device) {
  const auto answered = [](Result<fragmentation::Subject> read) -> Result<fragmentation::Answer> {
    const fragmentation::Subject subject = VRAMSCOPE_TRY(std::move(read));
    const fragmentation::LayoutWalk walk(subject.history, subject.rules);
    fragmentation::Question question;
    question.points = 0;
    return fragmentation::BuildAnswer(subject, walk, question);
  };
  if (!file.is_snapshot()) return answered(fragmentation::SubjectOf(analysis, device));
  const auto snapshot = VRAMSCOPE_TRY(file.ReadSnapshot());
  return answered(
      fragmentation::SubjectOf(snapshot, trace::DeviceIndexOf(analysis.run().devices[device].code)));
}

report::Request RequestFor(const model::Run& run, DeviceIndex device) {
  report::Request request;
  request.device = run.devices[device].name;
  request.pid = run.processes[run.devices[device].process].info.pid;
  return request;
}

// First the device that the request selects, then the others that match it.
Result<std::vector<DeviceIndex>> DevicesOf(const model::Run& run, const report::Request& request) {
  const std::vector<timeline::DeviceCurve> curves = report::CurvesOf(run);
  const auto first = VRAMSCOPE_TRY(report::ChooseDevice(run, curves, request));
  auto devices = report::ChooseDevices(run, curves, request);
  if (devices.ok())
    std::stable_partition(devices->begin(), devices->end(),
                          [&](DeviceIndex device) { return device == first; });
  return devices;
}

// One answer for each device that matches the request; for a run without allocations, one without a device.
Result<std::vector<diff::Side>> SidesOf(const std::string& path, const classify::Analysis& analysis,
                                        const report::Request& request,
                                        const std::vector<DeviceIndex>& devices) {
  std::vector<diff::Side> sides;
  for (const DeviceIndex device : devices) {
    diff::Side side = VRAMSCOPE_TRY(diff::SideOf(path, analysis, RequestFor(analysis.run(), device)));
    sides.push_back(std::move(side));
  }
  if (!sides.empty()) return sides;
  diff::Side nothing = VRAMSCOPE_TRY(diff::SideOf(path, analysis, request));
  sides.push_back(std::move(nothing));
  return sides;
}

// The side of the baseline with the same rank and device; nullptr if there is none. If one of the runs has no
// ranks, sides are matched by order, if there are equally many.
const diff::Side* PartnerOf(const report::Answer& run, size_t index, size_t devices,
                            const std::vector<diff::Side>& baselines) {
  if (devices == 1 && baselines.size() == 1) return &baselines.front();
  for (const diff::Side& side : baselines)
    if (run.rank.has_value() && side.answer.rank == run.rank && side.answer.device == run.device)
      return &side;
  const bool ranked = run.rank.has_value() && baselines.front().answer.rank.has_value();
  return ranked || baselines.size() != devices ? nullptr : &baselines[index];
}

}  // namespace

Status CheckEvidence::Read(const std::vector<Rule>& rules, const Arguments& arguments) {
  const model::Run& run = analysis_.run();
  const auto devices = VRAMSCOPE_TRY(PrefixError(file_.path(), DevicesOf(run, request_)));
  auto sides = VRAMSCOPE_TRY(SidesOf(file_.path(), analysis_, request_, devices));
  for (size_t i = 0; i < sides.size(); ++i) {
    OfDevice& of = *devices_.emplace_back(std::make_unique<OfDevice>());
    of.side = std::move(sides[i]);
    if (i >= devices.size()) continue;
    if (Has(rules, Rule::Kind::kFragmentation))
      of.fragmentation.emplace(JudgedFragmentation(file_, analysis_, devices[i]));
    if (Has(rules, Rule::Kind::kNoLeak))
      of.leaks.emplace(leaks::FindGrowth(analysis_, RequestFor(run, devices[i])));
  }
  return Has(rules, Rule::Kind::kBaseline) ? ReadBaseline(arguments) : Status();
}

Status CheckEvidence::ReadBaseline(const Arguments& arguments) {
  const std::string path = arguments.Get("baseline");
  const model::Run run = VRAMSCOPE_TRY(LoadRun(RunFile(path), arguments));
  const classify::Analysis analysis(run);
  report::Request request = request_;
  request.pid.reset();  // pids differ between runs
  const auto devices = VRAMSCOPE_TRY(PrefixError(path, DevicesOf(run, request)));
  baselines_ = VRAMSCOPE_TRY(SidesOf(path, analysis, request, devices));
  for (size_t i = 0; i < devices_.size(); ++i) {
    OfDevice& of = *devices_[i];
    of.baseline = PartnerOf(of.side.answer, i, devices_.size(), baselines_);
    if (of.baseline != nullptr) of.diff.emplace(diff::Compare(*of.baseline, of.side));
  }
  return {};
}

std::vector<check::Evidence> CheckEvidence::all() const {
  std::vector<check::Evidence> all;
  for (const auto& of : devices_) {
    check::Evidence& evidence = all.emplace_back();
    evidence.run = &of->side.answer;
    if (of->fragmentation.has_value()) evidence.fragmentation = &*of->fragmentation;
    if (of->leaks.has_value()) evidence.leaks = &*of->leaks;
    if (of->baseline != nullptr) evidence.baseline = &of->baseline->answer;
    if (of->diff.has_value()) evidence.diff = &*of->diff;
  }
  return all;
}

std::vector<report::Answer> CheckEvidence::TakeAnswers() {
  std::vector<report::Answer> answers;
  for (const auto& of : devices_) answers.push_back(std::move(of->side.answer));
  return answers;
}

}  // namespace vramscope::cli
