// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/source.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "profiler/allocator/sizing.h"
#include "profiler/snapshot/block_sizes.h"
#include "profiler/snapshot/history.h"
#include "profiler/snapshot/read.h"
#include "profiler/snapshot/timeline.h"

namespace vramscope::snapshot {
namespace {

using TraceEvent = trace::Event;
using trace::EventType;

constexpr uint8_t kCuda = 1;  // c10::DeviceType
constexpr std::string_view kOptimizerStep = "Optimizer.step#";
constexpr size_t kEventsAtOnce = 4096;

class SnapshotSource final : public model::Source {
 public:
  SnapshotSource(std::shared_ptr<const Snapshot> snapshot, const std::string& name)
      : snapshot_(std::move(snapshot)), processes_(1), threads_(1) {
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

  // Texts of the file first, then those of its frames.
  std::string_view String(trace::StringId id) const override {
    if (id < snapshot_->texts.size()) return snapshot_->texts[id];
    const size_t frame = id - snapshot_->texts.size();
    return frame < frames_.size() ? frames_[frame] : std::string_view();
  }
  std::vector<trace::StringId> Stack(trace::StackId id) const override {
    std::vector<trace::StringId> frames;
    if (id == 0 || id >= snapshot_->stacks.stack_count()) return frames;
    for (const FrameId frame : snapshot_->stacks.stack(id)) frames.push_back(snapshot_->texts.size() + frame);
    std::reverse(frames.begin(), frames.end());
    return frames;
  }

  Status ForEachBatch(const Visit& visit) const override { return Telling(*this, visit).Run(); }

  // What has been told after each of this device's events that a history has.
  std::vector<model::EventIndex> LastTold(uint32_t device) const {
    std::vector<model::EventIndex> last;
    uint64_t before_batch = 0;
    const Visit count = [&](std::span<const TraceEvent> batch) {
      before_batch += batch.size();
      return true;
    };
    Telling telling(*this, count);
    telling.Watch([&](uint32_t of, const Event& event, size_t in_batch) {
      if (of != device || !IsKnown(event)) return;
      const uint64_t told = before_batch + in_batch;
      last.push_back(static_cast<model::EventIndex>(told == 0 ? 0 : told - 1));
    });
    (void)telling.Run();
    return last;
  }

 private:
  // One pass over the snapshot.
  class Telling {
   public:
    Telling(const SnapshotSource& source, const Visit& visit)
        : source_(source), snapshot_(*source.snapshot_), visit_(visit), devices_(source.timelines_.size()) {
      batch_.reserve(kEventsAtOnce + 8);
    }

    // Called after each event of the snapshot, with how many events lie in the batch that is not sent yet.
    using Watcher = std::function<void(uint32_t device, const Event& event, size_t in_batch)>;
    void Watch(Watcher watcher) { watcher_ = std::move(watcher); }

    Status Run() {
      for (uint32_t device = 0; device < devices_.size(); ++device) TellBeginning(device);
      std::vector<Place> places(devices_.size());
      for (uint32_t device = next_device(places); device != kNone && !stopped_;
           device = next_device(places)) {
        const Event& event = EventAt(device, places[device]);
        TellAnnotations(event.time_us);
        Tell(device, event, places[device].number++);
        if (watcher_) watcher_(device, event, batch_.size());
        if (++places[device].within == snapshot_.device_traces[device][places[device].range].count) {
          ++places[device].range;
          places[device].within = 0;
        }
      }
      TellAnnotations(kUnknown);
      Send();
      return {};
    }

   private:
    static constexpr uint32_t kNone = 0xffffffff;
    struct Place {
      uint32_t range = 0;
      uint32_t within = 0;
      uint32_t number = 0;
    };
    struct DeviceState {
      HeldMemory memory;
      uint64_t allocated = 0;
      model::FlatMap live;  // address -> into sizes
      std::vector<uint64_t> sizes;
    };

    const Event& EventAt(uint32_t device, const Place& place) const {
      return snapshot_.events[snapshot_.device_traces[device][place.range].first + place.within];
    }

    // The device whose next event comes first; each device's own order stays, whatever its times say.
    uint32_t next_device(const std::vector<Place>& places) const {
      uint32_t next = kNone;
      uint64_t earliest = 0;
      for (uint32_t device = 0; device < devices_.size() && device < snapshot_.device_traces.size();
           ++device) {
        if (places[device].range >= snapshot_.device_traces[device].size()) continue;
        const uint64_t time = EventAt(device, places[device]).time_us;
        if (next != kNone && time >= earliest) continue;
        next = device;
        earliest = time;
      }
      return next;
    }

    TraceEvent& New(EventType type, uint64_t time_us) {
      if (batch_.size() >= kEventsAtOnce) Send();
      TraceEvent& event = batch_.emplace_back();
      event.type = type;
      const uint64_t start = source_.start_us_;
      if (time_us != kUnknown && time_us > start) last_ns_ = std::max(last_ns_, (time_us - start) * 1000);
      event.time_ns = last_ns_;
      return event;
    }

    void Send() {
      if (!batch_.empty() && !stopped_) stopped_ = !visit_(batch_);
      batch_.clear();
    }

    void TellBeginning(uint32_t device) {
      const DeviceTimeline& timeline = source_.timelines_[device];
      for (const MemoryRange& range : timeline.earlier_memory) TellMemory(device, range, true, 0);
      for (const EarlierBlock& block : timeline.earlier_blocks) {
        TellAlloc(device, block.address, block.bytes, block.requested_bytes, block.stream, block.stack, 0);
      }
    }

    void TellMemory(uint32_t device, const MemoryRange& range, bool came, uint64_t time_us) {
      DeviceState& state = devices_[device];
      came ? state.memory.Add(range) : state.memory.Remove(range.address, range.bytes);
      TraceEvent& event = New(EventType::kSegment, time_us);
      event.field[0] = range.address;
      event.field[1] = range.bytes;
      event.field[2] = trace::DeviceCode(kCuda, static_cast<uint8_t>(device));
      event.field[3] = range.stream;
      event.field[4] = came ? 1 : 0;
    }

    void TellAlloc(uint32_t device, uint64_t address, uint64_t bytes, uint64_t requested, uint64_t stream,
                   StackId stack, uint64_t time_us) {
      DeviceState& state = devices_[device];
      if (address != 0) {
        const auto [number, fresh] = state.live.Insert(address, static_cast<uint32_t>(state.sizes.size()));
        if (!fresh) {
          state.allocated -= state.sizes[*number];
          *number = static_cast<uint32_t>(state.sizes.size());
        }
        state.sizes.push_back(bytes);
      }
      state.allocated += bytes;
      TraceEvent& event = New(EventType::kAlloc, time_us);
      event.field[trace::alloc::kAddress] = address;
      event.field[trace::alloc::kSize] = bytes;
      event.field[trace::alloc::kDevice] = trace::DeviceCode(kCuda, static_cast<uint8_t>(device));
      event.field[trace::alloc::kStream] = stream;
      event.field[trace::alloc::kStack] = stack;
      event.field[trace::alloc::kRequested] = requested;
      SayTotals(device, event, trace::alloc::kTotalAllocated, trace::alloc::kTotalReserved);
    }

    void SayTotals(uint32_t device, TraceEvent& event, size_t allocated, size_t reserved) const {
      if (!source_.timelines_[device].knows_segments) return;
      event.field[allocated] = devices_[device].allocated;
      event.field[reserved] = devices_[device].memory.bytes();
    }

    void TellFree(uint32_t device, const Event& from) {
      DeviceState& state = devices_[device];
      const uint32_t* const number = from.address == 0 ? nullptr : state.live.Find(from.address);
      if (number == nullptr) {
        // The second half of a free that is known, or one that contradicts the rest of the file.
        if (from.action == Action::kFreeRequested)
          New(EventType::kFree, from.time_us).field[trace::free_::kAddress] = from.address;
        return;
      }
      state.allocated -= state.sizes[*number];
      state.live.Erase(from.address);
      TraceEvent& event = New(EventType::kFree, from.time_us);
      event.field[trace::free_::kAddress] = from.address;
      event.field[trace::free_::kDevice] = trace::DeviceCode(kCuda, static_cast<uint8_t>(device));
      event.field[trace::free_::kStack] = from.stack;
      SayTotals(device, event, trace::free_::kTotalAllocated, trace::free_::kTotalReserved);
    }

    void Tell(uint32_t device, const Event& from, uint32_t number) {
      const uint64_t stream = snapshot_.origins[from.origin].stream;
      switch (from.action) {
        case Action::kAlloc: {
          const auto& exact = source_.timelines_[device].block_bytes;
          const auto found = exact.find(number);
          const uint64_t bytes = found == exact.end() ? allocator::PlainlyRounded(from.bytes) : found->second;
          return TellAlloc(device, from.address, bytes, from.bytes, stream, from.stack, from.time_us);
        }
        case Action::kFreeRequested:
          return TellFree(device, from);
        case Action::kFreeCompleted: {
          TellFree(device, from);
          TraceEvent& event = New(EventType::kFreeCompleted, from.time_us);
          event.field[0] = from.address;
          event.field[1] = trace::DeviceCode(kCuda, static_cast<uint8_t>(device));
          return;
        }
        case Action::kSegmentAlloc:
        case Action::kSegmentMap:
          return TellMemory(device, {from.address, from.bytes, stream}, true, from.time_us);
        case Action::kSegmentFree:
        case Action::kSegmentUnmap:
          return TellMemory(device, {from.address, from.bytes, stream}, false, from.time_us);
        case Action::kOom: {
          TraceEvent& event = New(EventType::kOutOfMemory, from.time_us);
          event.field[trace::oom::kRequested] = from.bytes;
          event.field[trace::oom::kDevice] = trace::DeviceCode(kCuda, static_cast<uint8_t>(device));
          event.field[trace::oom::kStack] = from.stack;
          SayTotals(device, event, trace::oom::kTotalAllocated, trace::oom::kTotalReserved);
          return;
        }
        default:
          return;
      }
    }

    // Those at or before `time_us`. Every device has a copy of each: those of the first one are told.
    void TellAnnotations(uint64_t time_us) {
      const auto& all = source_.annotations_;
      for (; next_annotation_ < all.size() && all[next_annotation_].time_us <= time_us; ++next_annotation_) {
        const Annotation& from = all[next_annotation_];
        const std::string_view name = snapshot_.Text(from.name);
        const bool optimizer = name.starts_with(kOptimizerStep);
        TraceEvent& event = New(from.start ? EventType::kRangeBegin : EventType::kRangeEnd, from.time_us);
        event.field[trace::range::kKind] =
            static_cast<uint64_t>(optimizer ? trace::RangeKind::kOptimizer : trace::RangeKind::kScope);
        event.field[trace::range::kName] = from.name;
        event.field[trace::range::kId] = optimizer ? from.name : 0;
        if (!optimizer || from.start) continue;
        TraceEvent& done = New(EventType::kMark, from.time_us);
        done.field[trace::mark::kKind] = static_cast<uint64_t>(trace::MarkKind::kOptimizerStepDone);
        done.field[trace::mark::kValue] = ++steps_[from.name];
        done.field[trace::mark::kName] = from.name;
        done.field[trace::mark::kTensor] = from.name;
      }
    }

    const SnapshotSource& source_;
    const Snapshot& snapshot_;
    const Visit& visit_;
    Watcher watcher_;
    std::vector<DeviceState> devices_;
    std::vector<TraceEvent> batch_;
    std::unordered_map<uint32_t, uint64_t> steps_;  // by the optimizer's name
    size_t next_annotation_ = 0;
    uint64_t last_ns_ = 0;
    bool stopped_ = false;
  };

  void FindDevices() {
    constexpr uint32_t kMaxDevices = 256;
    uint32_t devices = static_cast<uint32_t>(snapshot_->device_traces.size());
    for (const Segment& segment : snapshot_->segments)
      devices = std::max(devices, std::min(segment.device, kMaxDevices - 1) + 1);
    for (uint32_t device = 0; device < devices; ++device)
      AddBlockSizes(*snapshot_, device, &timelines_.emplace_back(FindTimeline(*snapshot_, device)));
  }

  void FindStart() {
    start_us_ = kUnknown;
    for (uint32_t device = 0; device < snapshot_->device_traces.size(); ++device) {
      for (const EventRange& range : snapshot_->device_traces[device])
        start_us_ = std::min(start_us_, snapshot_->events[range.first].time_us);
    }
    for (const Annotation& annotation : snapshot_->annotations) {
      if (annotation.device == snapshot_->annotations.front().device) annotations_.push_back(annotation);
    }
    std::stable_sort(annotations_.begin(), annotations_.end(),
                     [](const Annotation& a, const Annotation& b) { return a.time_us < b.time_us; });
    if (start_us_ != kUnknown) clock_.start_realtime_ns = start_us_ * 1000;
  }

  // As the recorder writes them: "function (file:line)"; C++ frames have no file.
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
    for (const Setting& setting : snapshot_->settings) metadata_["allocator." + setting.key] = setting.value;
    uint64_t contradictions = 0;
    for (const DeviceTimeline& timeline : timelines_) contradictions += timeline.contradictions;
    damage_.events_readable = snapshot_->events.size();
    if (contradictions == 0) return;
    damage_.sentence = name + ": the snapshot contradicts itself: " + std::to_string(contradictions) +
                       " of its events do not fit its segments. Do not trust its figures.";
  }

  std::shared_ptr<const Snapshot> snapshot_;
  trace::TraceClock clock_;
  std::vector<trace::ProcessInfo> processes_;
  std::vector<trace::ThreadInfo> threads_;
  trace::Metadata metadata_;
  trace::Damage damage_;
  std::vector<DeviceTimeline> timelines_;
  std::vector<Annotation> annotations_;
  std::vector<std::string> frames_;
  uint64_t start_us_ = kUnknown;
};

}  // namespace

std::shared_ptr<const model::Source> MakeSource(std::shared_ptr<const Snapshot> snapshot,
                                                const std::string& name) {
  return std::make_shared<SnapshotSource>(std::move(snapshot), name);
}

std::shared_ptr<const std::vector<model::EventIndex>> TraceEventsOf(const model::Source& source,
                                                                    uint32_t device) {
  const auto* const own = dynamic_cast<const SnapshotSource*>(&source);
  if (own == nullptr) return nullptr;
  return std::make_shared<const std::vector<model::EventIndex>>(own->LastTold(device));
}

Result<std::shared_ptr<const model::Source>> OpenSource(const std::string& path) {
  if (LooksLikeSnapshot(path)) {
    auto snapshot = Read(path);
    if (!snapshot.ok()) return snapshot.error();
    return MakeSource(std::move(snapshot).value(), path);
  }
  auto reader = trace::TraceReader::Open(path);
  if (!reader.ok()) return reader.error();
  return model::MakeSource(std::move(reader).value());
}

Result<model::Run> LoadFile(const std::string& path) {
  auto source = OpenSource(path);
  if (!source.ok()) return source.error();
  return model::Load(std::move(source).value());
}

}  // namespace vramscope::snapshot
