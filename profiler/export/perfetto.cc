// SPDX-License-Identifier: Apache-2.0
// Export in Perfetto's native format: track events, as ui.perfetto.dev and trace_processor read them. Field
// numbers come from https://github.com/google/perfetto/tree/main/protos/perfetto/trace
#include "profiler/export/export.h"
#include "profiler/export/output.h"
#include "profiler/export/protobuf.h"
#include "profiler/export/series.h"
#include "profiler/export/slices.h"
#include "profiler/text/harmless.h"

namespace vramscope::exporting {
namespace {

// Trace, TracePacket
constexpr uint32_t kPacket = 1;
constexpr uint32_t kClockSnapshot = 6, kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kSequenceFlags = 13,
                   kTimestampClock = 58, kTrackDescriptor = 60;
// ClockSnapshot and its Clock; BuiltinClock, and a clock of this sequence that starts with the trace
constexpr uint32_t kClocks = 1, kPrimaryClock = 2, kClockId = 1, kClockTime = 2;
constexpr uint64_t kRealtime = 1, kMonotonic = 3, kOurClock = 64;
// TrackDescriptor
constexpr uint32_t kUuid = 1, kTrackName = 2, kProcess = 3, kThread = 4, kParent = 5, kCounter = 8;
// ProcessDescriptor and ThreadDescriptor; CounterDescriptor
constexpr uint32_t kPid = 1, kTid = 2, kThreadName = 5, kProcessName = 6, kUnit = 3, kUnitBytes = 3,
                   kSharedAxis = 7;
// TrackEvent and its types; DebugAnnotation
constexpr uint32_t kAnnotation = 4, kType = 9, kTrackOfEvent = 11, kCategory = 22, kName = 23,
                   kCounterValue = 30;
constexpr uint32_t kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounterType = 4;
constexpr uint32_t kAnnotationName = 10, kAnnotationNumber = 3, kAnnotationText = 6;

constexpr uint64_t kStateCleared = 1;  // SEQ_INCREMENTAL_STATE_CLEARED

class Perfetto {
 public:
  Perfetto(const Content& content, Output& out) : content_(content), run_(content.run()), out_(out) {}

  void Write() {
    WriteClocks();
    for (model::ProcessIndex process = 0; process < run_.processes.size(); ++process) ProcessTrack(process);
    const Slices slices = FindSlices(content_);
    WriteSlices(slices);
    for (model::DeviceIndex device = 0; device < run_.devices.size(); ++device) Counters(device);
    for (const report::OutOfMemory& oom : content_.answer().out_of_memory) OutOfMemory(oom);
  }

 private:
  [[nodiscard]] uint32_t Pid(model::ProcessIndex process) const { return run_.processes[process].info.pid; }
  static uint64_t ProcessUuid(model::ProcessIndex process) { return 1 + process; }
  uint64_t NewUuid() { return next_uuid_++; }

  void Packet(Message packet) {
    packet.Number(kSequence, 1);
    if (first_) packet.Number(kSequenceFlags, kStateCleared);
    first_ = false;
    out_.Text(Message().Sub(kPacket, packet).bytes());
  }
  void Descriptor(const Message& descriptor) { Packet(Message().Sub(kTrackDescriptor, descriptor)); }
  void Event(uint64_t time_ns, const Message& event) {
    Message packet;
    packet.Number(kTimestamp, time_ns).Sub(kTrackEvent, event);
    if (has_clocks_) packet.Number(kTimestampClock, kOurClock);
    Packet(packet);
  }

  // Writes the value of the machine's clocks at the trace's time 0, so that other traces of the same machine
  // can be aligned with it.
  void WriteClocks() {
    const trace::TraceClock& clock = run_.source->clock();
    const auto at = [](uint64_t id, uint64_t time) {
      return Message().Number(kClockId, id).Number(kClockTime, time);
    };
    Message clocks;
    clocks.Sub(kClocks, at(kOurClock, 0));
    if (clock.start_realtime_ns != 0) clocks.Sub(kClocks, at(kRealtime, clock.start_realtime_ns));
    if (clock.start_monotonic_ns != 0) clocks.Sub(kClocks, at(kMonotonic, clock.start_monotonic_ns));
    has_clocks_ = clock.start_monotonic_ns != 0 || clock.start_realtime_ns != 0;
    if (!has_clocks_) return;
    clocks.Number(kPrimaryClock, clock.start_monotonic_ns != 0 ? kMonotonic : kRealtime);
    Packet(Message().Sub(kClockSnapshot, clocks));
  }

  void ProcessTrack(model::ProcessIndex process) {
    const Message of = Message()
                           .Number(kPid, Pid(process))
                           .Bytes(kProcessName, text::Clean(run_.processes[process].info.command_line));
    Descriptor(Message().Number(kUuid, ProcessUuid(process)).Sub(kProcess, of));
  }

  uint64_t SliceTrack(const Track& track) {
    const uint64_t uuid = NewUuid();
    Message descriptor;
    descriptor.Number(kUuid, uuid).Number(kParent, ProcessUuid(track.process));
    if (track.kind == Track::Kind::kThread) {
      descriptor.Sub(kThread, Message()
                                  .Number(kPid, Pid(track.process))
                                  .Number(kTid, run_.threads[track.thread].info.os_thread)
                                  .Bytes(kThreadName, track.name));
    } else {
      descriptor.Bytes(kTrackName, track.name);
    }
    Descriptor(descriptor);
    return uuid;
  }

  void WriteSlices(const Slices& slices) {
    std::vector<uint64_t> uuids;
    for (const Track& track : slices.tracks) uuids.push_back(SliceTrack(track));
    for (const Edge& edge : slices.edges) {
      Message event;
      event.Number(kType, edge.begin ? kSliceBegin : kSliceEnd).Number(kTrackOfEvent, uuids[edge.track]);
      if (edge.begin) event.Bytes(kCategory, edge.kind).Bytes(kName, edge.name);
      Event(edge.time_ns, event);
    }
  }

  uint64_t CounterTrack(const model::Device& device, std::string_view figure) {
    const uint64_t uuid = NewUuid();
    Descriptor(Message()
                   .Number(kUuid, uuid)
                   .Number(kParent, ProcessUuid(device.process))
                   .Bytes(kTrackName, text::Clean(device.name + " " + std::string(figure)))
                   .Sub(kCounter, Message().Number(kUnit, kUnitBytes).Bytes(kSharedAxis, device.name)));
    return uuid;
  }
  void Count(uint64_t time_ns, uint64_t uuid, uint64_t value) {
    Event(time_ns,
          Message().Number(kType, kCounterType).Number(kTrackOfEvent, uuid).Number(kCounterValue, value));
  }

  // Writes one value for each change of a counter. Categories that never occur get no counter.
  void Counters(model::DeviceIndex device) {
    const model::Device& of = run_.devices[device];
    const uint64_t allocated = CounterTrack(of, "allocated");
    std::optional<uint64_t> reserved;
    std::array<std::optional<uint64_t>, classify::kCategoryCount> categories;
    SeriesPoint last;
    const Series series(content_, device);
    series.ForEach([&](const SeriesPoint& point) {
      const uint64_t time_ns = run_.times.TimeOf(point.event);
      if (point.allocated != last.allocated) Count(time_ns, allocated, point.allocated);
      if (point.reserved != last.reserved) {
        if (!reserved.has_value()) reserved = CounterTrack(of, "reserved");
        Count(time_ns, *reserved, *point.reserved);
      }
      for (size_t i = 0; i < classify::kCategoryCount; ++i) {
        if (point.categories[i] == last.categories[i]) continue;
        if (!categories[i].has_value())
          categories[i] = CounterTrack(of, classify::Info(static_cast<classify::Category>(i)).key);
        Count(time_ns, *categories[i], point.categories[i]);
      }
      last = point;
    });
  }

  void OutOfMemory(const report::OutOfMemory& oom) {
    uint64_t uuid = 0;
    for (model::ProcessIndex process = 0; process < run_.processes.size(); ++process) {
      if (Pid(process) == oom.pid) uuid = ProcessUuid(process);
    }
    Event(
        oom.time_ns,
        Message()
            .Number(kType, kInstant)
            .Number(kTrackOfEvent, uuid)
            .Bytes(kCategory, "memory")
            .Bytes(kName, "out of memory")
            .Sub(kAnnotation, Message()
                                  .Bytes(kAnnotationName, "requested_bytes")
                                  .Number(kAnnotationNumber, oom.requested_bytes))
            .Sub(kAnnotation,
                 Message().Bytes(kAnnotationName, "device").Bytes(kAnnotationText, text::Clean(oom.device))));
  }

  const Content& content_;
  const model::Run& run_;
  Output& out_;
  bool first_ = true;
  bool has_clocks_ = false;
  uint64_t next_uuid_ = uint64_t{1} << 32;  // smaller numbers are for processes
};

}  // namespace

Status WritePerfetto(const Content& content, const Options&, const std::string& path) {
  Output out = VRAMSCOPE_TRY(Output::Create(path));
  Perfetto(content, out).Write();
  return out.Finish();
}

}  // namespace vramscope::exporting
