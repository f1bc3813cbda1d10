// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/from_source.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

#include "profiler/snapshot/timeline.h"

namespace vramscope::snapshot {
namespace {

using trace::EventType;
using TraceEvent = trace::Event;

constexpr uint8_t kCpu = 0;  // c10::DeviceType

class Collecting {
 public:
  Collecting(const model::Source& source, const Cut& cut) : source_(source), cut_(cut) {}

  Result<Snapshot> Run() {
    const Status looked = Pass([this](const TraceEvent& event) { Look(event); });
    if (!looked.ok()) return looked.error();
    const Status read = Pass([this](const TraceEvent& event) { Take(event); });
    if (!read.ok()) return read.error();
    for (auto& [number, device] : devices_) Finish(number, device);
    std::stable_sort(out_.segments.begin(), out_.segments.end(),
                     [](const Segment& a, const Segment& b) { return a.address < b.address; });
    TakeSettings();
    return std::move(out_);
  }

 private:
  struct Live {
    uint64_t bytes = 0;
    uint64_t requested = 0;
    uint64_t stream = 0;
    StackId stack = 0;
    BlockState state = BlockState::kAllocated;
  };
  struct Device {
    std::map<uint64_t, Live> live;  // by address
    HeldMemory segments;            // as the trace says
    HeldMemory used;                // addresses that blocks ever had
    std::vector<Event> events;
    bool tells_completion = false;  // frees are followed by kFreeCompleted
  };

  template <typename Visit>
  Status Pass(const Visit& visit) {
    uint64_t seen = 0;
    return source_.ForEachBatch([&](std::span<const TraceEvent> events) {
      for (const TraceEvent& event : events) {
        if (seen++ == cut_.events) return false;
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
    if (event.type == EventType::kFreeCompleted) completes_ = true;
  }

  // Whether the device is one of those that are told; and its number.
  bool Number(uint64_t code, uint32_t* number) const {
    const bool cpu = trace::DeviceTypeOf(code) == kCpu;
    if (cpu == cuda_) return false;
    const uint8_t index = trace::DeviceIndexOf(code);
    *number = cpu || index == 0xff ? 0 : index;
    return true;
  }

  void Take(const TraceEvent& event) {
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
        if (Number(field[2], &number)) TakeSegment(event, &devices_[number]);
        return;
      case EventType::kOutOfMemory:
        if (Number(field[trace::oom::kDevice], &number)) {
          Add(&devices_[number], event, Action::kOom, 0, field[trace::oom::kRequested], 0,
              StackOf(field[trace::oom::kStack]));
        }
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
    event.origin = OriginOf(stream);
    event.time_us = TimeUs(from);
    device->events.push_back(event);
  }

  [[nodiscard]] uint64_t TimeUs(const TraceEvent& event) const {
    return (source_.clock().start_realtime_ns + event.time_ns) / 1000;
  }

  void TakeAlloc(const TraceEvent& event, Device* device) {
    const uint64_t* field = event.field;
    const uint64_t address = field[trace::alloc::kAddress];
    Live block;
    block.bytes = field[trace::alloc::kSize];
    block.requested = field[trace::alloc::kRequested] != 0 ? field[trace::alloc::kRequested] : block.bytes;
    block.stream = field[trace::alloc::kStream];
    block.stack = StackOf(field[trace::alloc::kStack]);
    if (address == 0 || block.bytes == 0) return;
    if (device->live.contains(address))
      EndBlock(event, device, address, Action::kFreeCompleted);  // its free was not seen
    Add(device, event, Action::kAlloc, address, block.requested, block.stream, block.stack);
    device->live[address] = block;
    device->used.Add({address, block.bytes, block.stream});
  }

  // A free does not always know its device.
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

  void TakeSegment(const TraceEvent& event, Device* device) {
    const uint64_t* field = event.field;
    const bool came = field[4] != 0;
    Add(device, event, came ? Action::kSegmentAlloc : Action::kSegmentFree, field[0], field[1], field[3], 0);
    if (came) {
      device->segments.Add({field[0], field[1], field[3]});
    } else {
      device->segments.Remove(field[0], field[1]);
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

  uint32_t OriginOf(uint64_t stream) {
    for (uint32_t i = 0; i < out_.origins.size(); ++i) {
      if (out_.origins[i].stream == stream) return i;
    }
    out_.origins.emplace_back().stream = stream;
    return static_cast<uint32_t>(out_.origins.size() - 1);
  }

  StackId StackOf(uint64_t stack) {
    if (stack == 0) return 0;
    const auto [known, fresh] = stacks_.try_emplace(stack, 0);
    if (!fresh) return known->second;
    std::vector<FrameId> frames;
    for (const trace::StringId frame : source_.Stack(static_cast<trace::StackId>(stack)))
      frames.push_back(FrameOf(source_.String(frame)));
    std::reverse(frames.begin(), frames.end());
    return known->second = out_.stacks.AddStack(frames);
  }

  // "function (file:line)", or a function alone.
  FrameId FrameOf(std::string_view text) {
    Frame frame;
    const size_t open = text.rfind(" (");
    const size_t colon = text.rfind(':');
    const bool placed =
        open != std::string_view::npos && colon != std::string_view::npos && colon > open &&
        text.ends_with(')') &&
        std::from_chars(text.data() + colon + 1, text.data() + text.size() - 1, frame.line).ec == std::errc();
    frame.function = out_.texts.Add(placed ? text.substr(0, open) : text);
    frame.file = out_.texts.Add(placed ? text.substr(open + 2, colon - open - 2) : "??");
    return out_.stacks.AddFrame(frame);
  }

  void Finish(uint32_t number, Device& device) {
    if (out_.device_traces.size() <= number) out_.device_traces.resize(number + 1);
    if (!device.events.empty()) {
      out_.device_traces[number].push_back(
          {static_cast<uint32_t>(out_.events.size()), static_cast<uint32_t>(device.events.size())});
      for (const Event& event : device.events) out_.events.push_back(event);
      device.events = {};
    }
    const bool told = !device.segments.ranges().empty();
    for (const MemoryRange& range : told ? device.segments.ranges() : Merged(device.used.ranges()))
      AddSegment(number, range, device);
  }

  // Neighbours without a gap become one.
  static std::vector<MemoryRange> Merged(const std::vector<MemoryRange>& ranges) {
    std::vector<MemoryRange> merged;
    for (const MemoryRange& range : ranges) {
      if (!merged.empty() && merged.back().address + merged.back().bytes == range.address) {
        merged.back().bytes += range.bytes;
      } else {
        merged.push_back(range);
      }
    }
    return merged;
  }

  void AddSegment(uint32_t number, const MemoryRange& range, const Device& device) {
    constexpr uint64_t kSmallSegment = uint64_t{2} << 20;
    Segment segment;
    segment.device = number;
    segment.address = range.address;
    segment.bytes = range.bytes;
    segment.stream = range.stream;
    segment.large = range.bytes > kSmallSegment;
    segment.requested_bytes = 0;
    uint64_t at = range.address;
    const auto free_until = [&](uint64_t end) {
      if (at < end) segment.blocks.push_back({at, end - at, 0, 0, BlockState::kInactive});
    };
    const uint64_t end = range.address + range.bytes;
    for (auto block = device.live.lower_bound(range.address);
         block != device.live.end() && block->first < end; ++block) {
      const Live& live = block->second;
      if (block->first < at || block->first + live.bytes > end) continue;  // contradicts the segments
      free_until(block->first);
      segment.blocks.push_back({block->first, live.bytes, live.requested, live.stack, live.state});
      if (live.state == BlockState::kAllocated) segment.allocated_bytes += live.bytes;
      segment.active_bytes += live.bytes;
      segment.requested_bytes += live.requested;
      at = block->first + live.bytes;
    }
    free_until(end);
    out_.segments.push_back(std::move(segment));
  }

  void TakeSettings() {
    const auto conf = source_.metadata().find("env.PYTORCH_CUDA_ALLOC_CONF");
    if (conf == source_.metadata().end()) return;
    out_.has_settings = true;
    out_.settings.push_back({"PYTORCH_CUDA_ALLOC_CONF", conf->second, true});
  }

  const model::Source& source_;
  const Cut& cut_;
  Snapshot out_;
  std::map<uint32_t, Device> devices_;
  std::unordered_map<uint64_t, StackId> stacks_;
  bool cuda_ = false;
  bool completes_ = false;
};

}  // namespace

Result<Snapshot> FromSource(const model::Source& source, const Cut& cut) {
  return Collecting(source, cut).Run();
}

}  // namespace vramscope::snapshot
