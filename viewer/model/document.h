// SPDX-License-Identifier: Apache-2.0
// An opened file: the analyzed run and, for each device, the data of the timeline. A Document does not change
// after it was made.
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

// Short names for panels.
using classify::CategoryMask;
using classify::kAllCategories;
using classify::MaskOf;
using classify::MemoryColumn;
using classify::MemorySeries;
using classify::StackOrder;
using timeline::Extremes;
using timeline::StepLine;
using timeline::UsedLine;

// An event that is marked on the time axis.
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
  CategoryChoice choice;  // categories that `series` shows
  StepLine reserved;
  StepLine used;                     // used memory of the whole device, from the driver
  std::optional<uint64_t> capacity;  // memory of the device; empty = unknown
  std::vector<TimelineMark> marks;
  RangeLanes lanes;  // the ranges of the device's process
};

// The memory layout of a device's caching allocator: the addresses of all segments and blocks at all times.
// It is created after the data of the timeline, because it takes longer.
struct LayoutView {
  fragmentation::Subject subject;
  std::unique_ptr<fragmentation::LayoutWalk> walk;    // nullptr if the segments are not known
  std::string why_not;                                // sentence: reason why `walk` is nullptr
  std::shared_ptr<const AddressTimeIndex> addresses;  // also set if `walk` is nullptr
  // Adds facts of the analysis to `subject`. May be empty.
  std::function<void(const classify::Analysis&, fragmentation::Subject&)> explain;
};

struct Document {
  std::string path;
  std::shared_ptr<const snapshot::Snapshot> snapshot;  // nullptr if the file is not a snapshot
  std::unique_ptr<model::Run> run;
  std::unique_ptr<classify::Analysis> analysis;
  std::vector<std::unique_ptr<DeviceView>>
      devices;  // only devices with allocations; GPUs first, then highest peak first

  [[nodiscard]] std::string name() const;  // file name without folders
  // Returns the index in `devices` of a device, which must have allocations.
  [[nodiscard]] size_t PlaceOf(model::DeviceIndex device) const;
  [[nodiscard]] const timeline::Training& training(const DeviceView& device) const {
    return analysis->training()[run->devices[device.index].process];
  }
  // Returns the name of the category in the terms of the recorded framework.
  [[nodiscard]] model::Framework::Words WordsOf(classify::Category category) const {
    return classify::WordsOf(category, model::FrameworkOf(*run->source));
  }
};

// Analyzes a run. This is slow. `snapshot` may be nullptr.
[[nodiscard]] std::unique_ptr<Document> MakeDocument(std::string path, model::Run run,
                                                     std::shared_ptr<const snapshot::Snapshot> snapshot);
// MakeDocument() in two steps. HoldRun() stores the run in a new document. Analyze() computes all other
// members.
[[nodiscard]] std::unique_ptr<Document> HoldRun(std::string path, model::Run run,
                                                std::shared_ptr<const snapshot::Snapshot> snapshot);
void Analyze(Document& document);
// Returns a time of the run as text: "1.20 s", or "event 7" if the run has no times.
[[nodiscard]] std::string TimeText(const model::Run& run, uint64_t time_ns);

// `document` must outlive the layout.
[[nodiscard]] std::unique_ptr<LayoutView> MakeLayout(const Document& document, model::DeviceIndex device);
// MakeLayout() in two steps. PlaceBlocks() needs only the run, and may run in parallel with Analyze().
// Explain() must run after Analyze() and adds the owners of blocks.
[[nodiscard]] std::unique_ptr<LayoutView> PlaceBlocks(const Document& document, model::DeviceIndex device);
void Explain(const Document& document, LayoutView& layout);

}  // namespace vramscope::viewer
