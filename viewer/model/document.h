// SPDX-License-Identifier: Apache-2.0
// An opened file with everything that the views read: the analysed run, and for each device the series that
// the timeline draws. Immutable once it is made, but for what says otherwise.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/classify/analysis.h"
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

// What every panel draws is named here once.
using classify::CategoryMask;
using classify::kAllCategories;
using classify::MaskOf;
using classify::MemoryColumn;
using classify::MemorySeries;
using classify::StackOrder;
using timeline::Extremes;
using timeline::StepLine;
using timeline::UsedLine;

// Something that happened and is worth a mark on the time axis.
struct TimelineMark {
  enum class Kind : uint8_t { kPeak, kOutOfMemory, kUser } kind = Kind::kPeak;
  model::EventIndex event = 0;
  std::string text;
};

// One device as one process sees it.
struct DeviceView {
  model::DeviceIndex index = 0;
  std::string title;  // "cuda:0", "cuda:0 of process 4711" where there are several
  timeline::DeviceCurve curve;
  LiveIndex live;
  MemorySeries series;
  CategoryChoice choice;  // of what the series shows
  StepLine reserved;
  StepLine used;  // of the whole device, as the driver says
  std::vector<TimelineMark> marks;
  RangeLanes lanes;  // of its process
};

// Where every byte of a device's caching allocator is, and where its blocks were at all times: made after the
// timeline, for it takes longer.
struct LayoutView {
  fragmentation::Subject subject;
  std::unique_ptr<fragmentation::LayoutWalk> walk;    // none when the segments are not known
  std::string why_not;                                // then: one sentence
  std::shared_ptr<const AddressTimeIndex> addresses;  // also without a walk
  // Adds to the subject what only the analysis tells; empty where there is nothing to add.
  std::function<void(const classify::Analysis&, fragmentation::Subject&)> explain;
};

struct Document {
  std::string path;
  std::shared_ptr<const snapshot::Snapshot> snapshot;  // when the file is one
  std::unique_ptr<model::Run> run;
  std::unique_ptr<classify::Analysis> analysis;
  std::vector<std::unique_ptr<DeviceView>>
      devices;  // that allocated anything; GPUs first, then by their peaks

  [[nodiscard]] std::string name() const;  // of the file, without folders
  // Where a device of the run that allocated anything is in `devices`.
  [[nodiscard]] size_t PlaceOf(model::DeviceIndex device) const;
  [[nodiscard]] const timeline::Training& training(const DeviceView& device) const {
    return analysis->training()[run->devices[device.index].process];
  }
};

// Takes a run apart; the slow part of opening after reading. `snapshot` may be empty.
[[nodiscard]] std::unique_ptr<Document> MakeDocument(std::string path, model::Run run,
                                                     std::shared_ptr<const snapshot::Snapshot> snapshot);
// In two parts: a document that has only what was read, and all that is made of it.
[[nodiscard]] std::unique_ptr<Document> HoldRun(std::string path, model::Run run,
                                                std::shared_ptr<const snapshot::Snapshot> snapshot);
void Analyse(Document& document);
// A time of the run in words: "1.20 s", or "event 7" where it does not know times.
[[nodiscard]] std::string TimeText(const model::Run& run, uint64_t time_ns);

// `document` must outlive it.
[[nodiscard]] std::unique_ptr<LayoutView> MakeLayout(const Document& document, model::DeviceIndex device);
// In two parts as well: where blocks lie, for which the run is enough, so that it may be made beside Analyse;
// and who has them.
[[nodiscard]] std::unique_ptr<LayoutView> PlaceBlocks(const Document& document, model::DeviceIndex device);
void Explain(const Document& document, LayoutView& layout);

}  // namespace vramscope::viewer
