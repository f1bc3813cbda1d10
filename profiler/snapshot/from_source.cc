// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/from_source.h"

#include <algorithm>
#include <map>
#include <utility>

#include "profiler/snapshot/held_segment.h"
#include "profiler/snapshot/host_history.h"
#include "profiler/snapshot/segment_changes.h"
#include "profiler/snapshot/settings_in_force.h"
#include "profiler/snapshot/stack_copies.h"
#include "profiler/snapshot/timeline.h"

namespace vramscope::snapshot {
namespace {

using trace::EventType;
using TraceEvent = trace::Event;

constexpr uint8_t kCpu = 0;  // c10::DeviceType

Action ActionOf(bool came, bool mapped) {
  if (mapped) return came ? Action::kSegmentMap : Action::kSegmentUnmap;
  return came ? Action::kSegmentAlloc : Action::kSegmentFree;
}

class Collecting {
 public:
  Collecting(const model::Source& source, const model::Run& run, const Cut& cut)
      : source_(source), run_(run), cut_(cut), segment_changes_(SegmentChangesOf(run, cut.process)) {
    const auto frees = source.metadata().find(model::kFreesKey);
    completes_ = frees != source.metadata().end() && frees->second == model::kInTwoHalves;
  }

  Result<Snapshot> Run() {
    VRAMSCOPE_TRY(Pass([this](const TraceEvent& event) { Look(event); }));
    out_.origins.front().has_metadata = noted_;
    VRAMSCOPE_TRY(Pass([this](const TraceEvent& event) { Take(event); }));
    for (auto& [number, device] : devices_) Finish(number, device);
    host_.MoveTo(&out_);
    for (std::vector<Segment>* segments : {&out_.segments, &out_.host_segments}) {
      std::stable_sort(segments->begin(), segments->end(),
                       [](const Segment& a, const Segment& b) { return a.address < b.address; });
    }
    TakeSettings();
    return std::move(out_);
  }

 private:
  struct Device {
    std::map<uint64_t, LiveBlock> live;  // by address
    HeldMemory segments;                 // as in the trace
    HeldMemory used;                     // addresses that blocks ever used
    std::vector<Event> events;
    // Indices into `events` of taken memory without a block yet, by address.
    std::map<uint64_t, size_t> unclaimed;
    bool expandable = false;
  };

  template <typename Visit>
  Status Pass(const Visit& visit) {
    uint64_t seen = 0;
    return source_.ForEachBatch([&](std::span<const TraceEvent> events) {
      for (const TraceEvent& event : events) {
        if (seen == cut_.events) return false;
        now_ = static_cast<model::EventIndex>(seen++);
        const bool ours = event.thread < source_.threads().size() &&
                          source_.threads()[event.thread].process == cut_.process;
        if (ours) visit(event);
      }
      return true;
    });
  }

  void Look(const TraceEvent& event) {
    if (event.type == EventType::kAlloc && trace::DeviceTypeOf(event.field[trace::alloc::kDevice]) != kCpu)
      cuda_ = true;
    if (event.type == EventType::kFreeCompleted) completes_ = true;  // in traces older than the key kFreesKey
    noted_ |= IsMetadata(event);
  }

  static bool IsMetadata(const TraceEvent& event) {
    return event.type == EventType::kMark &&
           event.field[trace::mark::kKind] == static_cast<uint64_t>(trace::MarkKind::kUserMetadata);
  }

  // True if the device is part of the snapshot; also gets its number.
  bool Number(uint64_t code, uint32_t* number) const {
    const bool cpu = trace::DeviceTypeOf(code) == kCpu;
    if (cpu == cuda_) return false;
    const uint8_t index = trace::DeviceIndexOf(code);
    *number = cpu || index == 0xff ? 0 : index;
    return true;
  }

  void Take(const TraceEvent& event) {
    TakeSegmentChanges(event);
    uint32_t number = 0;
    const uint64_t* field = event.field;
    switch (event.type) {
      case EventType::kAlloc:
        if (Number(field[trace::alloc::kDevice], &number)) TakeAlloc(event, &devices_[number]);
        return;
      case EventType::kFree:
        return TakeFree(event);
      case EventType::kFreeCompleted:
        if (Number(field[1], &number)) TakeCompletion(event, &devices_[number]);
        return;
      case EventType::kSegment:
        if (Number(field[trace::segment::kDevice], &number)) TakeSegment(event, &devices_[number]);
        return;
      case EventType::kOutOfMemory:
        if (Number(field[trace::oom::kDevice], &number)) TakeFailure(event, &devices_[number]);
        return;
      case EventType::kLabel:
        return TakeLabel(event);
      case EventType::kDriverAlloc:
      case EventType::kDriverFree:
        return host_.Take(event, TimeUs(event));
      case EventType::kMark:
        if (IsMetadata(event)) metadata_ = TextOf(field[trace::mark::kName]);
        return;
      case EventType::kRangeBegin:
      case EventType::kRangeEnd:
        return TakeRange(event);
      default:
        return;
    }
  }

  void Add(Device* device, const TraceEvent& from, Action action, uint64_t address, uint64_t bytes,
           uint64_t stream, StackId stack) {
    Event event;
    event.action = action;
    event.address = address;
    event.bytes = bytes;
    event.stack = stack;
    event.origin = OriginOf(stream, metadata_);
    event.time_us = TimeUs(from);
    device->events.push_back(event);
  }

  [[nodiscard]] uint64_t TimeUs(const TraceEvent& event) const {
    if (run_.counts_events()) return kUnknown;
    return (source_.clock().start_realtime_ns + event.time_ns) / 1000;
  }

  void TakeAlloc(const TraceEvent& event, Device* device) {
    const uint64_t* field = event.field;
    const uint64_t address = field[trace::alloc::kAddress];
    LiveBlock block;
    block.bytes = field[trace::alloc::kSize];
    block.requested = field[trace::alloc::kRequested] != 0 ? field[trace::alloc::kRequested] : block.bytes;
    block.stream = field[trace::alloc::kStream];
    block.stack = StackOf(BlockStack(event));
    if (address == 0 || block.bytes == 0) return;
    if (device->live.contains(address))
      EndBlock(event, device, address, Action::kFreeCompleted);  // its free was not seen
    Add(device, event, Action::kAlloc, address, block.requested, block.stream, block.stack);
    device->live[address] = block;
    device->used.Add({address, block.bytes, block.stream});
    Claim(address, block.stream, device);
  }

  // The stack of the new block as `run_` has it: Python's, if that was recorded with the operator.
  [[nodiscard]] uint64_t BlockStack(const TraceEvent& event) const {
    const model::BlockId id = run_.FirstBlockFrom(now_);
    const bool known = id < run_.blocks.size() && run_.blocks[id].alloc_event == now_;
    return known ? run_.blocks[id].stack : event.field[trace::alloc::kStack];
  }

  // Gives the new segment around `address` the stream of its first block. Driver calls have no stream, but
  // the allocator takes a segment for a request, whose block then comes first in it.
  void Claim(uint64_t address, uint64_t stream, Device* device) {
    auto at = device->unclaimed.upper_bound(address);
    if (at == device->unclaimed.begin()) return;
    Event& came = device->events[(--at)->second];
    if (address - came.address >= came.bytes) return;
    came.origin = OriginOf(stream, out_.origins[came.origin].user_metadata);
    device->segments.Add({came.address, came.bytes, stream});
    device->unclaimed.erase(at);
  }

  void TakeFailure(const TraceEvent& event, Device* device) {
    const uint64_t* field = event.field;
    const auto code = static_cast<uint16_t>(field[trace::oom::kDevice]);
    Add(device, event, Action::kOom, DriverFree(code), field[trace::oom::kRequested], 0,
        StackOf(field[trace::oom::kStack]));
  }

  // The driver's free memory; 0 if unknown.
  [[nodiscard]] uint64_t DriverFree(uint16_t code) const {
    const model::DriverDevice* driver = run_.driver.Find(cut_.process, code);
    if (driver == nullptr || driver->samples.empty()) return 0;
    uint64_t capacity = 0;
    for (const model::DriverSample& sample : driver->samples) capacity = std::max(capacity, sample.capacity);
    const auto used = driver->UsedAfter(now_);
    return used.has_value() && *used < capacity ? capacity - *used : 0;
  }

  // Takes the segment changes by driver calls up to this event.
  void TakeSegmentChanges(const TraceEvent& event) {
    for (; next_change_ < segment_changes_.size() && segment_changes_[next_change_].at <= now_;
         ++next_change_) {
      const SegmentChange& change = segment_changes_[next_change_];
      uint32_t number = 0;
      if (!Number(change.device_code, &number)) continue;
      Device& device = devices_[number];
      device.expandable |= change.mapped;
      ChangeSegments(event, &device, ActionOf(change.came, change.mapped), {change.address, change.bytes, 0},
                     StackOf(change.stack));
    }
  }

  void ChangeSegments(const TraceEvent& event, Device* device, Action action, const MemoryRange& range,
                      StackId stack) {
    const bool came = action == Action::kSegmentAlloc || action == Action::kSegmentMap;
    Add(device, event, action, range.address, range.bytes,
        came ? range.stream : device->segments.StreamAt(range.address), stack);
    if (came) {
      device->segments.Add(range);
      device->unclaimed[range.address] = device->events.size() - 1;
    } else {
      device->segments.Remove(range.address, range.bytes);
    }
  }

  // Searches all devices for the block: the event of a free does not always contain its device.
  void TakeFree(const TraceEvent& event) {
    const uint64_t address = event.field[trace::free_::kAddress];
    for (auto& [number, device] : devices_) {
      if (!device.live.contains(address)) continue;
      if (!completes_) EndBlock(event, &device, address, Action::kFreeRequested);
      EndBlock(event, &device, address, completes_ ? Action::kFreeRequested : Action::kFreeCompleted);
      return;
    }
  }

  void TakeCompletion(const TraceEvent& event, Device* device) {
    if (device->live.contains(event.field[0]))
      EndBlock(event, device, event.field[0], Action::kFreeCompleted);
  }

  void EndBlock(const TraceEvent& event, Device* device, uint64_t address, Action action) {
    const auto block = device->live.find(address);
    const StackId stack = event.type == EventType::kFree ? StackOf(event.field[trace::free_::kStack]) : 0;
    Add(device, event, action, address, block->second.requested, block->second.stream, stack);
    if (action == Action::kFreeRequested) {
      block->second.state = BlockState::kPendingFree;
    } else {
      device->live.erase(block);
    }
  }

  // For a source that has segment events itself, like a snapshot.
  void TakeSegment(const TraceEvent& event, Device* device) {
    if (!segment_changes_.empty()) return;
    const uint64_t* field = event.field;
    const uint64_t address = field[trace::segment::kAddress];
    const uint64_t bytes = field[trace::segment::kSize];
    const uint64_t stream = field[trace::segment::kStream];
    const bool came = (field[trace::segment::kChange] & trace::segment::kCame) != 0;
    const bool mapped = (field[trace::segment::kChange] & trace::segment::kMapped) != 0;
    device->expandable |= mapped;
    Add(device, event, ActionOf(came, mapped), address, bytes, stream, 0);
    if (came) {
      device->segments.Add({address, bytes, stream});
    } else {
      device->segments.Remove(address, bytes);
    }
  }

  // The text that the program attached to a block with torch.cuda.memory._annotate_tensor.
  void TakeLabel(const TraceEvent& event) {
    const uint64_t* field = event.field;
    if (field[trace::label::kSource] != static_cast<uint64_t>(trace::LabelSource::kAnnotation)) return;
    for (auto& [number, device] : devices_) {
      if (!device.live.contains(field[trace::label::kAddress])) continue;
      const uint64_t stream = device.live.at(field[trace::label::kAddress]).stream;
      Add(&device, event, Action::kAnnotate, field[trace::label::kAddress], field[trace::label::kBytes],
          stream, 0);
      device.events.back().origin = OriginOf(stream, TextOf(field[trace::label::kName]));
      return;
    }
  }

  void TakeRange(const TraceEvent& event) {
    const auto kind = static_cast<trace::RangeKind>(event.field[trace::range::kKind]);
    const std::string_view name = source_.String(static_cast<uint32_t>(event.field[trace::range::kName]));
    if (kind != trace::RangeKind::kScope && kind != trace::RangeKind::kOptimizer) return;
    Annotation annotation;
    annotation.start = event.type == EventType::kRangeBegin;
    annotation.time_us = TimeUs(event);
    std::string text(name);
    if (kind == trace::RangeKind::kOptimizer && !name.starts_with("Optimizer.step#"))
      text = "Optimizer.step#" + text + ".step";
    annotation.name = out_.texts.Add(text);
    out_.annotations.push_back(annotation);
  }

  uint32_t OriginOf(uint64_t stream, uint32_t metadata) {
    const auto [known, fresh] =
        origin_of_.try_emplace({stream, metadata}, static_cast<uint32_t>(out_.origins.size()));
    if (fresh) {
      Origin& origin = out_.origins.emplace_back();
      origin.stream = stream;
      origin.has_metadata = noted_ || metadata != 0;
      origin.user_metadata = metadata;
    }
    return known->second;
  }

  uint32_t TextOf(uint64_t name) {
    return name == 0 ? 0 : out_.texts.Add(source_.String(static_cast<trace::StringId>(name)));
  }

  StackId StackOf(uint64_t stack) { return stacks_.Of(stack); }

  void Finish(uint32_t number, Device& device) {
    if (out_.device_traces.size() <= number) out_.device_traces.resize(number + 1);
    if (!device.events.empty()) {
      out_.device_traces[number].push_back(
          {static_cast<uint32_t>(out_.events.size()), static_cast<uint32_t>(device.events.size())});
      for (const Event& event : device.events) out_.events.push_back(event);
      device.events = {};
    }
    std::vector<MemoryRange> ranges = device.segments.ranges();
    if (ranges.empty() && segment_changes_.empty()) {
      ranges = Merged(device.used.ranges());
    } else if (device.expandable) {
      ranges = Merged(ranges);  // pages of one expandable segment
    }
    for (const MemoryRange& range : ranges) {
      Segment& segment = out_.segments.emplace_back(SegmentWith(range, device.live));
      segment.device = number;
      segment.expandable = device.expandable;
    }
  }

  void TakeSettings() {
    const trace::Metadata& metadata = source_.metadata();
    const auto text_of = [&](const char* key) {
      const auto found = metadata.find(key);
      return found == metadata.end() ? std::string() : found->second;
    };
    std::string conf = text_of("env.PYTORCH_CUDA_ALLOC_CONF");
    if (conf.empty()) conf = text_of("env.PYTORCH_ALLOC_CONF");
    const std::string version = text_of("torch.version");
    if (conf.empty() && version.empty()) return;
    out_.has_settings = true;
    out_.settings = SettingsInForce(conf, version);
  }

  const model::Source& source_;
  const model::Run& run_;
  const Cut& cut_;
  std::vector<SegmentChange> segment_changes_;
  size_t next_change_ = 0;
  model::EventIndex now_ = 0;  // the current event
  Snapshot out_;
  HostHistory host_;
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> origin_of_{{{0, 0}, 0}};  // by stream and user metadata
  uint32_t metadata_ = 0;
  bool noted_ = false;  // the trace has user metadata
  std::map<uint32_t, Device> devices_;
  StackCopies stacks_{source_, &out_};
  bool cuda_ = false;
  bool completes_;  // true if the source reports when a free has completed
};

}  // namespace

Result<Snapshot> FromSource(const model::Source& source, const model::Run& run, const Cut& cut) {
  return Collecting(source, run, cut).Run();
}

}  // namespace vramscope::snapshot
