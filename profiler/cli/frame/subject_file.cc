// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/frame/subject_file.h"

#include <algorithm>
#include <utility>

#include "profiler/cli/frame/device_request.h"
#include "profiler/cli/frame/progress.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/fragmentation/snapshot_subject.h"
#include "profiler/fragmentation/trace_subject.h"
#include "profiler/report/device_choice.h"
#include "profiler/report/notes.h"
#include "profiler/snapshot/source.h"

namespace vramscope::cli {
namespace {

using model::DeviceIndex;
using report::Request;

// The request from the arguments, including moments that select a device.
Result<Request> RequestOf(const Arguments& arguments, const SubjectQuestion& question) {
  Request request = VRAMSCOPE_TRY(DeviceRequest(arguments));
  for (const std::string& text : question.at) {
    const timeline::MomentSpec moment = VRAMSCOPE_TRY(timeline::ParseMoment(text));
    request.at.push_back(moment);
  }
  return request;
}

Result<DeviceIndex> DeviceOf(const Request& request, const SubjectQuestion& question, SubjectFile& file) {
  const auto failure = report::ChooseFailure(*file.run, request, question.failure ? question.number : 0);
  const auto all = report::ChooseFailure(*file.run, request, 0);
  file.failures = all.has_value() ? all->all : 0;
  if (question.failure && question.number != 0 && !failure.has_value()) {
    return Error{"there is no out-of-memory event " + std::to_string(question.number) + ": this file has " +
                 std::to_string(file.failures) + "."};
  }
  if (failure.has_value()) {
    file.failure = failure->number;
    file.failure_on_device = failure->number_on_device;
    if (question.failure) return failure->device;
  }
  const auto device = VRAMSCOPE_TRY(report::ChooseDevice(*file.run, report::CurvesOf(*file.run), request));
  if (device == model::kNone) return report::NothingAllocated(*file.run, "");
  return device;
}

// Describes the device in words, and determines which of the subject's failures "oom" means.
void Speak(const Request& request, DeviceIndex device, SubjectFile& file) {
  fragmentation::Subject& subject = file.subject;
  const auto meant = report::ChooseDevices(*file.run, report::CurvesOf(*file.run), request);
  const report::Spoken spoken =
      report::SpokenOf(*file.run, device, meant.ok() ? *meant : std::vector<DeviceIndex>{});
  subject.rank = spoken.rank;
  subject.about = spoken.text;
  subject.others = spoken.others;
  Request here = request;
  here.device = spoken.device;
  here.pid = spoken.pid;
  const auto failure = report::ChooseFailure(*file.run, here, 0);
  if (failure.has_value()) subject.main_failure = failure->number_on_device - 1;
}

bool HasSeveralDevices(const snapshot::Snapshot& snapshot) {
  size_t devices = 0;
  const size_t most = std::max<size_t>(snapshot.device_traces.size(), 1);
  for (uint32_t device = 0; device < most; ++device)
    devices += device < snapshot.device_traces.size() && snapshot.event_count(device) != 0 ? 1 : 0;
  return devices > 1 || std::any_of(snapshot.segments.begin(), snapshot.segments.end(),
                                    [&](const snapshot::Segment& segment) {
                                      return segment.device != snapshot.segments.front().device;
                                    });
}

bool CountsEvents(const Request& request) {
  return std::any_of(request.at.begin(), request.at.end(), [](const timeline::MomentSpec& moment) {
    return moment.kind == timeline::MomentSpec::Kind::kEvent;
  });
}

// Reads the snapshot as a run too, but only if the answer depends on it, because that doubles the time.
Status FromSnapshot(const RunFile& given, const Request& request, const SubjectQuestion& question,
                    SubjectFile& file) {
  const std::string& path = given.path();
  if (request.pid.has_value() || request.rank.has_value())
    return Error{"--process and --rank apply to traces; a snapshot has one process. Leave them out."};
  const auto snapshot = VRAMSCOPE_TRY(given.ReadSnapshot());
  std::optional<uint32_t> number;
  DeviceIndex device = model::kNone;
  if (HasSeveralDevices(*snapshot) || request.device.has_value() || CountsEvents(request)) {
    auto run = VRAMSCOPE_TRY(model::Load(snapshot::MakeSource(snapshot, path)));
    file.run = std::make_unique<model::Run>(std::move(run));
    const Result<DeviceIndex> chosen = DeviceOf(request, question, file);
    if (!chosen.ok()) return PrefixError(path, chosen.error());
    device = *chosen;
    number = trace::DeviceIndexOf(file.run->devices[device].code);
  }
  auto subject =
      fragmentation::SubjectOf(snapshot, number, file.run == nullptr ? nullptr : file.run->source.get());
  if (!subject.ok()) return PrefixError(path, subject.error());
  file.subject = std::move(*subject);
  if (file.run != nullptr) {
    Speak(request, device, file);
    return {};
  }
  fragmentation::Subject& only = file.subject;
  file.failures = only.failures.size();
  file.failure = question.number == 0 ? file.failures : question.number;
  file.failure_on_device = file.failure;
  return {};
}

Status FromTrace(const RunFile& given, const Arguments& arguments, const Request& request,
                 const SubjectQuestion& question, SubjectFile& file) {
  const std::string& path = given.path();
  auto run = VRAMSCOPE_TRY(LoadTrace(given, arguments));
  file.run = std::make_unique<model::Run>(std::move(run));
  file.analysis = std::make_unique<classify::Analysis>(*file.run);
  const Result<DeviceIndex> device = DeviceOf(request, question, file);
  if (!device.ok()) return PrefixError(path, device.error());
  auto subject = fragmentation::SubjectOf(*file.analysis, *device);
  if (!subject.ok()) {
    const std::string why = report::CachingOff(file.run->source->metadata());
    return PrefixError(path, Error{subject.error().sentence + (why.empty() ? "" : " " + why)});
  }
  file.subject = std::move(*subject);
  Speak(request, *device, file);
  return {};
}

}  // namespace

Result<std::unique_ptr<SubjectFile>> OpenSubject(const RunFile& given, const Arguments& arguments,
                                                 const SubjectQuestion& question) {
  const Request request = VRAMSCOPE_TRY(RequestOf(arguments, question));
  auto file = std::make_unique<SubjectFile>();
  VRAMSCOPE_TRY(given.is_snapshot() ? FromSnapshot(given, request, question, *file)
                                    : FromTrace(given, arguments, request, question, *file));
  return file;
}

}  // namespace vramscope::cli
