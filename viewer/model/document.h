// SPDX-License-Identifier: Apache-2.0
// An opened file with everything the views read: the analyzed run and, for each device, the series that the
// timeline draws. Immutable once created, except where noted.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/classify/analysis.h"
#include "profiler/classify/category_words.h"
#include "profiler/classify/memory_series.h"
#include "profiler/classify/origin.h"
#include "profiler/fragmentation/layout_walk.h"
#include "profiler/fragmentation/subject.h"
#include "profiler/snapshot/snapshot.h"
#include "profiler/timeline/curve.h"
#include "profiler/timeline/step_line.h"
#include "viewer/model/category_choice.h"
#include "viewer/model/live_index.h"
#include "viewer/model/range_lanes.h"

namespace vramscope::viewer {

class AddressTimeIndex;

// The types that panels draw are named here once.
using classify::CategoryMask;
using classify::kAllCategories;
using classify::MaskOf;
using classify::MemoryColumn;
using classify::MemorySeries;
using classify::StackOrder;
using timeline::Extremes;
using timeline::StepLine;
using timeline::UsedLine;

// An event with a mark on the time axis.
struct TimelineMark {
  enum class Kind : uint8_t { kPeak, kOutOfMemory, kUser } kind = Kind::kPeak;
  model::EventIndex event = 0;
  std::string text;
};

// One device as one process sees it.
struct DeviceView {
  model::DeviceIndex index = 0;
  std::string title;  // "cuda:0"; "cuda:0 of process 4711" if there are several
  timeline::DeviceCurve curve;
  LiveIndex live;
  MemorySeries series;
  CategoryChoice choice;  // of what the series shows
  StepLine reserved;
  StepLine used;                     // of the whole device, from the driver
  std::optional<uint64_t> capacity;  // of the device, if the driver was queried
  std::vector<TimelineMark> marks;
  RangeLanes lanes;  // the ranges of the device's process
};

// The layout of a device's caching allocator: where every byte is, and where its blocks were at all times.
// Created after the timeline, because it takes longer.
struct LayoutView {
  fragmentation::Subject subject;
  std::unique_ptr<fragmentation::LayoutWalk> walk;    // nullptr if the segments are not known
  std::string why_not;                                // in that case: one sentence
  std::shared_ptr<const AddressTimeIndex> addresses;  // also without a walk
  // Adds to the subject the facts that only the analysis has; empty if there is nothing to add.
  std::function<void(const classify::Analysis&, fragmentation::Subject&)> explain;
};

struct Document {
  std::string path;
  std::shared_ptr<const snapshot::Snapshot> snapshot;  // if the file is a snapshot
  std::unique_ptr<model::Run> run;
  std::unique_ptr<classify::Analysis> analysis;
  std::vector<std::unique_ptr<DeviceView>>
      devices;  // those that allocated anything; GPUs first, then by their peaks

  [[nodiscard]] std::string name() const;  // of the file, without folders
  // The index in `devices` of a device of the run that allocated anything.
  [[nodiscard]] size_t PlaceOf(model::DeviceIndex device) const;
  [[nodiscard]] const timeline::Training& training(const DeviceView& device) const {
    return analysis->training()[run->devices[device.index].process];
  }
  // The category in the words of the recorded framework.
  [[nodiscard]] model::Framework::Words WordsOf(classify::Category category) const {
    return classify::WordsOf(category, model::FrameworkOf(*run->source));
  }
};

// Analyzes a run: the slow part of opening after reading. `snapshot` may be empty.
[[nodiscard]] std::unique_ptr<Document> MakeDocument(std::string path, model::Run run,
                                                     std::shared_ptr<const snapshot::Snapshot> snapshot);
// The same in two parts: HoldRun() makes a document that has only what was read, and Analyze() computes
// everything else.
[[nodiscard]] std::unique_ptr<Document> HoldRun(std::string path, model::Run run,
                                                std::shared_ptr<const snapshot::Snapshot> snapshot);
void Analyze(Document& document);
// A time of the run as text: "1.20 s", or "event 7" if the run has no times.
[[nodiscard]] std::string TimeText(const model::Run& run, uint64_t time_ns);

// `document` must outlive the layout.
[[nodiscard]] std::unique_ptr<LayoutView> MakeLayout(const Document& document, model::DeviceIndex device);
// Also in two parts. PlaceBlocks() finds where blocks lie; it needs only the run, and may run in parallel
// with Analyze(). Explain() then finds who owns them.
[[nodiscard]] std::unique_ptr<LayoutView> PlaceBlocks(const Document& document, model::DeviceIndex device);
void Explain(const Document& document, LayoutView& layout);

}  // namespace vramscope::viewer
