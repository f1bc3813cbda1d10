// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/source.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "profiler/snapshot/block_sizes.h"
#include "profiler/snapshot/free_halves.h"
#include "profiler/snapshot/read.h"
#include "profiler/snapshot/telling.h"
#include "profiler/snapshot/time_axis.h"
#include "profiler/snapshot/timeline.h"

namespace vramscope::snapshot {
namespace {

// The call and the library with which PyTorch allocates pinned memory.
constexpr std::array<std::string_view, 2> kOwnTexts = {"cudaHostAlloc", "libtorch_cuda.so"};

class SnapshotSource final : public model::Source {
 public:
  SnapshotSource(std::shared_ptr<const Snapshot> snapshot, const std::string& name)
      : snapshot_(std::move(snapshot)), axis_(*snapshot_), processes_(1), threads_(1) {
    threads_[0].name = "snapshot";
    FindDevices();
    FindStart();
    NameFrames();
    SayWhatItIs(name);
  }

  const trace::TraceClock& clock() const override { return clock_; }
  const std::vector<trace::ProcessInfo>& processes() const override { return processes_; }
  const std::vector<trace::ThreadInfo>& threads() const override { return threads_; }
  const trace::Metadata& metadata() const override { return metadata_; }
  const trace::Damage& damage() const override { return damage_; }
  uint64_t event_count() const override { return snapshot_->events.size(); }

  // Texts of the file first, then those of its frames, then our own.
  std::string_view String(trace::StringId id) const override {
    if (id < snapshot_->texts.size()) return snapshot_->texts[id];
    const size_t frame = id - snapshot_->texts.size();
    if (frame < frames_.size()) return frames_[frame];
    const size_t own = frame - frames_.size();
    return own < kOwnTexts.size() ? kOwnTexts[own] : std::string_view();
  }
  std::vector<trace::StringId> Stack(trace::StackId id) const override {
    std::vector<trace::StringId> frames;
    if (id == 0 || id >= snapshot_->stacks.stack_count()) return frames;
    for (const FrameId frame : snapshot_->stacks.stack(id)) frames.push_back(snapshot_->texts.size() + frame);
    std::reverse(frames.begin(), frames.end());
    return frames;
  }

  Status ForEachBatch(const Visit& visit) const override {
    Telling(ToTell(), visit).Run();
    return {};
  }

  struct LastEvents {
    std::vector<model::EventIndex> last;  // for each event of the device: the last trace event sent after it
    uint64_t all = 0;                     // trace events
  };
  LastEvents LastTold(uint32_t device) const {
    std::vector<model::EventIndex> last;
    uint64_t before_batch = 0;
    const Visit count = [&](std::span<const trace::Event> batch) {
      before_batch += batch.size();
      return true;
    };
    Telling telling(ToTell(), count);
    telling.Watch([&](uint32_t of, size_t in_batch) {
      if (of != device) return;
      const uint64_t told = before_batch + in_batch;
      last.push_back(static_cast<model::EventIndex>(told == 0 ? 0 : told - 1));
    });
    telling.Run();
    return {std::move(last), before_batch};
  }

 private:
  Told ToTell() const {
    const auto extra = static_cast<trace::StringId>(snapshot_->texts.size() + frames_.size());
    return {*snapshot_, axis_, timelines_, annotations_, extra, extra + 1};
  }

  void FindDevices() {
    uint32_t devices = static_cast<uint32_t>(snapshot_->device_traces.size());
    for (const Segment& segment : snapshot_->segments)
      devices = std::max(devices, std::min(segment.device, kMaxDevices - 1) + 1);
    for (uint32_t device = 0; device < devices; ++device)
      AddBlockSizes(*snapshot_, device, &timelines_.emplace_back(FindTimeline(*snapshot_, device)));
  }

  // In older files, every device has a copy of each annotation. PyTorch 2.15 gives it only to the current
  // device of its thread, which is device 0 in threads that compute nothing. Optimizers run in the training
  // thread.
  [[nodiscard]] uint32_t AnnotatedDevice() const {
    std::map<uint32_t, std::pair<size_t, size_t>> counts;  // of optimizers, of all
    for (const Annotation& annotation : snapshot_->annotations) {
      auto& [optimizers, all] = counts[annotation.device];
      optimizers += snapshot_->Text(annotation.name).starts_with(kOptimizerStep) ? 1 : 0;
      ++all;
    }
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == counts.end() ? 0 : most->first;
  }

  void FindStart() {
    const uint32_t device = AnnotatedDevice();
    for (const Annotation& annotation : snapshot_->annotations)
      if (annotation.device == device) annotations_.push_back(annotation);
    std::stable_sort(annotations_.begin(), annotations_.end(),
                     [](const Annotation& a, const Annotation& b) { return a.time_us < b.time_us; });
    if (!axis_.counts_events()) clock_.start_realtime_ns = axis_.start_us() * 1000;
  }

  // In the recorder's form: "function (file:line)"; C++ frames have no file.
  void NameFrames() {
    frames_.reserve(snapshot_->stacks.frame_count());
    for (FrameId id = 0; id < snapshot_->stacks.frame_count(); ++id) {
      const Frame& frame = snapshot_->stacks.frame(id);
      const std::string_view file = snapshot_->Text(frame.file);
      std::string text(snapshot_->Text(frame.function));
      if (!file.empty() && file != "??")
        text.append(" (").append(file).append(":").append(std::to_string(frame.line)).append(")");
      frames_.push_back(std::move(text));
    }
  }

  void SayWhatItIs(const std::string& name) {
    metadata_["source"] = "PyTorch memory snapshot " + name;
    if (axis_.counts_events() && !snapshot_->events.empty())
      metadata_[model::kTimesKey] = model::kEventNumbers;
    if (std::any_of(timelines_.begin(), timelines_.end(), [](const DeviceTimeline& timeline) {
          return !timeline.earlier_blocks.empty() || !timeline.earlier_memory.empty();
        }))
      metadata_[model::kBeginKey] = model::kInTheMiddle;
    for (uint32_t device = 0; device < timelines_.size(); ++device) {
      if (FreeHalves(*snapshot_, device).apart()) metadata_[model::kFreesKey] = model::kInTwoHalves;
    }
    for (const Setting& setting : snapshot_->settings) metadata_["allocator." + setting.key] = setting.value;
    uint64_t contradictions = 0;
    for (const DeviceTimeline& timeline : timelines_) contradictions += timeline.contradictions;
    damage_.events_readable = snapshot_->events.size();
    if (contradictions == 0) return;
    damage_.sentence = name + ": the snapshot contradicts itself: " + std::to_string(contradictions) +
                       " of its events do not fit its segments. Do not trust its figures.";
  }

  std::shared_ptr<const Snapshot> snapshot_;
  TimeAxis axis_;
  trace::TraceClock clock_;
  std::vector<trace::ProcessInfo> processes_;
  std::vector<trace::ThreadInfo> threads_;
  trace::Metadata metadata_;
  trace::Damage damage_;
  std::vector<DeviceTimeline> timelines_;
  std::vector<Annotation> annotations_;
  std::vector<std::string> frames_;
};

}  // namespace

std::shared_ptr<const model::Source> MakeSource(std::shared_ptr<const Snapshot> snapshot,
                                                const std::string& name) {
  return std::make_shared<SnapshotSource>(std::move(snapshot), name);
}

TraceEvents TraceEventsOf(const model::Source& source, uint32_t device, std::span<const uint32_t> numbers) {
  const auto* const own = dynamic_cast<const SnapshotSource*>(&source);
  if (own == nullptr) return {};
  const auto [last, all] = own->LastTold(device);
  auto events = std::make_shared<std::vector<model::EventIndex>>();
  events->reserve(numbers.size());
  for (const uint32_t number : numbers) events->push_back(last[number]);
  return {std::move(events), all};
}

}  // namespace vramscope::snapshot
