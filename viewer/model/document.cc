// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <tuple>
#include <utility>

#include "profiler/fragmentation/snapshot_subject.h"
#include "profiler/fragmentation/trace_subject.h"
#include "profiler/report/device_choice.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/model/address_time.h"

namespace vramscope::viewer {
namespace {

using model::DeviceIndex;
using model::Run;

std::vector<TimelineMark> MarksOf(const Run& run, const model::Device& device,
                                  const timeline::DeviceCurve& curve) {
  std::vector<TimelineMark> marks;
  marks.push_back(
      {TimelineMark::Kind::kPeak, curve.peak().event, "Peak " + text::FormatBytes(curve.peak().bytes)});
  for (const model::OutOfMemory& oom : run.out_of_memory) {
    if (oom.device_code != device.code || run.threads[oom.thread].process != device.process) continue;
    marks.push_back({TimelineMark::Kind::kOutOfMemory, oom.event,
                     fmt::format("Out of memory: {} were requested", text::FormatBytes(oom.requested))});
  }
  for (const uint32_t index : run.processes[device.process].marks) {
    const model::Mark& mark = run.marks[index];
    if (mark.kind != trace::MarkKind::kUser) continue;
    marks.push_back({TimelineMark::Kind::kUser, mark.event, text::OneLine(run.Text(mark.name))});
  }
  return marks;
}

std::optional<uint64_t> CapacityOf(const Run& run, const model::DriverDevice* driver,
                                   model::ProcessIndex process) {
  if (driver == nullptr || run.event_count() == 0) return std::nullopt;
  return driver->UseAfter(run.event_count() - 1, process).capacity;
}

std::unique_ptr<DeviceView> MakeDevice(const Run& run, const classify::Analysis& analysis, DeviceIndex index,
                                       const timeline::DeviceCurve& curve) {
  const model::Device& device = run.devices[index];
  const model::DriverDevice* driver = run.driver.Find(device.process, device.code);
  auto view = std::make_unique<DeviceView>(DeviceView{index,
                                                      device.name,
                                                      curve,
                                                      LiveIndex(run, index),
                                                      MemorySeries(run, analysis.categories(), index),
                                                      {},
                                                      StepLine(device.reserved),
                                                      driver == nullptr ? StepLine() : UsedLine(*driver),
                                                      CapacityOf(run, driver, device.process),
                                                      {},
                                                      RangeLanes(run, device.process)});
  view->marks = MarksOf(run, device, view->curve);
  return view;
}

}  // namespace

std::string Document::name() const { return path.substr(path.find_last_of('/') + 1); }

size_t Document::PlaceOf(DeviceIndex device) const {
  const auto found =
      std::find_if(devices.begin(), devices.end(), [&](const auto& view) { return view->index == device; });
  return static_cast<size_t>(found - devices.begin());
}

std::unique_ptr<Document> MakeDocument(std::string path, Run run,
                                       std::shared_ptr<const snapshot::Snapshot> snapshot) {
  auto document = HoldRun(std::move(path), std::move(run), std::move(snapshot));
  Analyze(*document);
  return document;
}

std::unique_ptr<Document> HoldRun(std::string path, Run run,
                                  std::shared_ptr<const snapshot::Snapshot> snapshot) {
  auto document = std::make_unique<Document>();
  document->path = std::move(path);
  document->snapshot = std::move(snapshot);
  document->run = std::make_unique<Run>(std::move(run));
  return document;
}

void Analyze(Document& document) {
  const Run& all = *document.run;
  document.analysis = std::make_unique<classify::Analysis>(all);
  const std::vector<timeline::DeviceCurve> curves = report::CurvesOf(all);
  for (DeviceIndex i = 0; i < all.devices.size(); ++i) {
    if (!all.devices[i].changes.empty())
      document.devices.push_back(MakeDevice(all, *document.analysis, i, curves[i]));
  }
  std::stable_sort(document.devices.begin(), document.devices.end(), [&](const auto& a, const auto& b) {
    const auto rank = [&](const DeviceView& device) {
      return std::tuple(trace::DeviceTypeOf(all.devices[device.index].code) != 0, device.curve.peak().bytes);
    };
    return rank(*a) > rank(*b);
  });
  // The default device of every answer.
  const Result<DeviceIndex> chosen = report::ChooseDevice(all, curves, {});
  if (chosen.ok()) {
    std::stable_partition(document.devices.begin(), document.devices.end(),
                          [&](const auto& device) { return device->index == *chosen; });
  }
  if (all.processes.size() == 1) return;
  for (const auto& device : document.devices) device->title = report::SpokenOf(all, device->index).text;
}

namespace {

Result<fragmentation::PlacedSubject> PlacedSubjectOf(const Document& document, DeviceIndex device) {
  if (!document.snapshot) return fragmentation::PlacedSubjectOf(*document.run, device);
  auto subject = VRAMSCOPE_TRY(
      fragmentation::SubjectOf(document.snapshot, trace::DeviceIndexOf(document.run->devices[device].code),
                               document.run->source.get()));
  return fragmentation::PlacedSubject{std::move(subject), {}};
}

void PlaceSegments(const Document& document, DeviceIndex device, LayoutView* view) {
  const model::Device& of = document.run->devices[device];
  if (trace::DeviceTypeOf(of.code) == 0) {
    view->why_not = "This is host memory. It has no caching allocator, so there are no segments to show.";
    return;
  }
  Result<fragmentation::PlacedSubject> placed = PlacedSubjectOf(document, device);
  if (!placed.ok()) {
    view->why_not = text::OneLine(placed.error().sentence);
    return;
  }
  view->subject = std::move(placed->subject);
  view->explain = std::move(placed->explain);
  if (!view->subject.has_layout) {
    view->why_not =
        "This file does not record the allocator's segments, so blocks cannot be placed at their "
        "addresses. vramscope info shows what was hooked.";
    return;
  }
}

void Walk(LayoutView& view) {
  if (view.subject.has_layout)
    view.walk = std::make_unique<fragmentation::LayoutWalk>(view.subject.history, view.subject.rules);
}

}  // namespace

std::string TimeText(const model::Run& run, uint64_t time_ns) {
  return text::FormatTime(time_ns, run.counts_events());
}

std::unique_ptr<LayoutView> MakeLayout(const Document& document, DeviceIndex device) {
  auto view = PlaceBlocks(document, device);
  Explain(document, *view);
  return view;
}

void Explain(const Document& document, LayoutView& layout) {
  if (layout.explain) layout.explain(*document.analysis, layout.subject);
  layout.explain = {};
}

std::unique_ptr<LayoutView> PlaceBlocks(const Document& document, DeviceIndex device) {
  auto view = std::make_unique<LayoutView>();
  PlaceSegments(document, device, view.get());
  const auto index = [&] { return std::make_shared<AddressTimeIndex>(*document.run, device, *view); };
  if (view->subject.history.complete) {  // they do not need each other
    auto indexed = std::async(std::launch::async, index);
    Walk(*view);
    view->addresses = indexed.get();
  } else {
    Walk(*view);
    view->addresses = index();
  }
  return view;
}

}  // namespace vramscope::viewer
