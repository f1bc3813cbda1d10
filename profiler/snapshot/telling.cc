// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/telling.h"

#include <algorithm>
#include <unordered_set>

#include "profiler/allocator/sizing.h"

namespace vramscope::snapshot {
namespace {

using trace::EventType;

constexpr uint8_t kCuda = 1;  // c10::DeviceType
constexpr size_t kEventsAtOnce = 4096;
using trace::segment::kCame;
using trace::segment::kMapped;

uint64_t CodeOf(uint32_t device) { return trace::DeviceCode(kCuda, static_cast<uint8_t>(device)); }

}  // namespace

Telling::Telling(const Told& told, const model::Source::Visit& visit)
    : told_(told), snapshot_(told.snapshot), visit_(visit), devices_(told.timelines.size()) {
  batch_.reserve(kEventsAtOnce + 8);
  for (uint32_t device = 0; device < devices_.size(); ++device) {
    devices_[device].frees = FreeHalves(snapshot_, device);
    frees_apart_ |= devices_[device].frees.apart();
  }
}

void Telling::Run() {
  for (uint32_t device = 0; device < devices_.size(); ++device) TellBeginning(device);
  TellHostBeginning();
  std::vector<Place> places(devices_.size() + 1);
  for (uint32_t which = NextHistory(places); which != kNone && !stopped_; which = NextHistory(places)) {
    Place& place = places[which];
    const Event& event = EventAt(which, place);
    TellAnnotations(event.time_us);
    const uint32_t number = place.number++;
    if (which == host()) {
      const bool came = event.action == Action::kSegmentAlloc;
      if (came || event.action == Action::kSegmentFree)
        TellHost(event.address, event.bytes, came, told_.axis.TimeOf(event.time_us));
    } else {
      Tell(which, event, number, told_.axis.TimeOf(event, which, number));
      if (watcher_) watcher_(which, batch_.size());
    }
    if (++place.within == HistoryAt(which)[place.range].count) {
      ++place.range;
      place.within = 0;
    }
  }
  TellAnnotations(kUnknown);
  Send();
}

const std::vector<EventRange>& Telling::HistoryAt(uint32_t which) const {
  static const std::vector<EventRange> none;
  if (which == host()) return snapshot_.host_trace;
  return which < snapshot_.device_traces.size() ? snapshot_.device_traces[which] : none;
}

const Event& Telling::EventAt(uint32_t which, const Place& place) const {
  return snapshot_.events[HistoryAt(which)[place.range].first + place.within];
}

// The history whose next event comes first. The order within each history is kept, whatever its times.
uint32_t Telling::NextHistory(const std::vector<Place>& places) const {
  uint32_t next = kNone;
  uint64_t earliest = 0;
  for (uint32_t which = 0; which < places.size(); ++which) {
    if (places[which].range >= HistoryAt(which).size()) continue;
    const uint64_t time = EventAt(which, places[which]).time_us;
    if (next != kNone && time >= earliest) continue;
    next = which;
    earliest = time;
  }
  return next;
}

trace::Event& Telling::New(EventType type, uint64_t time_ns) {
  if (batch_.size() >= kEventsAtOnce) Send();
  trace::Event& event = batch_.emplace_back();
  event.type = type;
  last_ns_ = std::max(last_ns_, time_ns);
  event.time_ns = last_ns_;
  return event;
}

void Telling::Send() {
  if (!batch_.empty() && !stopped_) stopped_ = !visit_(batch_);
  batch_.clear();
}

void Telling::TellBeginning(uint32_t device) {
  const DeviceTimeline& timeline = told_.timelines[device];
  const bool mapped = IsExpandable(device);
  for (const MemoryRange& range : timeline.earlier_memory)
    TellMemory(device, range, mapped ? kCame | kMapped : kCame, 0);
  for (const EarlierBlock& block : timeline.earlier_blocks) TellAlloc(device, block, 0);
}

// True if the device has an expandable segment at the end. The file does not record whether earlier memory
// was mapped.
bool Telling::IsExpandable(uint32_t device) const {
  return std::any_of(snapshot_.segments.begin(), snapshot_.segments.end(),
                     [&](const Segment& segment) { return segment.device == device && segment.expandable; });
}

void Telling::TellMemory(uint32_t device, const MemoryRange& range, uint64_t change, uint64_t time_ns) {
  DeviceState& state = devices_[device];
  (change & kCame) != 0 ? state.memory.Add(range) : state.memory.Remove(range.address, range.bytes);
  trace::Event& event = New(EventType::kSegment, time_ns);
  event.field[trace::segment::kAddress] = range.address;
  event.field[trace::segment::kSize] = range.bytes;
  event.field[trace::segment::kDevice] = CodeOf(device);
  event.field[trace::segment::kStream] = range.stream;
  event.field[trace::segment::kChange] = change;
}

void Telling::TellAlloc(uint32_t device, const EarlierBlock& block, uint64_t time_ns) {
  DeviceState& state = devices_[device];
  if (block.address != 0) {
    const auto [number, fresh] = state.live.Insert(block.address, static_cast<uint32_t>(state.sizes.size()));
    if (!fresh) {
      state.allocated -= state.sizes[*number];
      *number = static_cast<uint32_t>(state.sizes.size());
    }
    state.sizes.push_back(block.bytes);
  }
  state.allocated += block.bytes;
  trace::Event& event = New(EventType::kAlloc, time_ns);
  event.field[trace::alloc::kAddress] = block.address;
  event.field[trace::alloc::kSize] = block.bytes;
  event.field[trace::alloc::kDevice] = CodeOf(device);
  event.field[trace::alloc::kStream] = block.stream;
  event.field[trace::alloc::kStack] = block.stack;
  event.field[trace::alloc::kRequested] = block.requested_bytes;
  SayTotals(device, event, trace::alloc::kTotalAllocated, trace::alloc::kTotalReserved);
}

void Telling::SayTotals(uint32_t device, trace::Event& event, size_t allocated, size_t reserved) const {
  if (!told_.timelines[device].knows_segments) return;
  event.field[allocated] = devices_[device].allocated;
  event.field[reserved] = devices_[device].memory.bytes();
}

void Telling::TellFree(uint32_t device, const Event& from, uint64_t time_ns) {
  DeviceState& state = devices_[device];
  const uint32_t* const number = from.address == 0 ? nullptr : state.live.Find(from.address);
  if (number == nullptr) {
    // The second half of a known free, or an event that contradicts the rest of the file.
    if (from.action == Action::kFreeRequested)
      New(EventType::kFree, time_ns).field[trace::free_::kAddress] = from.address;
    return;
  }
  state.allocated -= state.sizes[*number];
  state.live.Erase(from.address);
  trace::Event& event = New(EventType::kFree, time_ns);
  event.field[trace::free_::kAddress] = from.address;
  event.field[trace::free_::kDevice] = CodeOf(device);
  event.field[trace::free_::kStack] = from.stack;
  SayTotals(device, event, trace::free_::kTotalAllocated, trace::free_::kTotalReserved);
}

void Telling::TellCompletion(uint32_t device, uint64_t address, uint64_t time_ns) {
  trace::Event& event = New(EventType::kFreeCompleted, time_ns);
  event.field[0] = address;
  event.field[1] = CodeOf(device);
}

void Telling::Tell(uint32_t device, const Event& from, uint32_t number, uint64_t time_ns) {
  const uint64_t stream = snapshot_.origins[from.origin].stream;
  TellMetadata(from, time_ns);
  switch (from.action) {
    case Action::kAlloc: {
      const auto& exact = told_.timelines[device].block_bytes;
      const auto found = exact.find(number);
      const uint64_t bytes = found == exact.end() ? allocator::PlainlyRounded(from.bytes) : found->second;
      TellAlloc(device, {from.address, bytes, from.bytes, stream, from.stack}, time_ns);
      if (metadata_ != 0)
        TellName(from.address, from.bytes, metadata_, trace::LabelSource::kUserMetadata, time_ns);
      return;
    }
    case Action::kFreeRequested:
      TellFree(device, from, time_ns);
      if (frees_apart_ && devices_[device].frees.CompletesAtOnce(from, number))
        TellCompletion(device, from.address, time_ns);
      return;
    case Action::kFreeCompleted:
      TellFree(device, from, time_ns);
      return TellCompletion(device, from.address, time_ns);
    case Action::kSegmentAlloc:
      return TellMemory(device, {from.address, from.bytes, stream}, kCame, time_ns);
    case Action::kSegmentMap:
      return TellMemory(device, {from.address, from.bytes, stream}, kCame | kMapped, time_ns);
    case Action::kSegmentFree:
      return TellMemory(device, {from.address, from.bytes, stream}, 0, time_ns);
    case Action::kSegmentUnmap:
      return TellMemory(device, {from.address, from.bytes, stream}, kMapped, time_ns);
    case Action::kOom: {
      trace::Event& event = New(EventType::kOutOfMemory, time_ns);
      event.field[trace::oom::kRequested] = from.bytes;
      event.field[trace::oom::kDevice] = CodeOf(device);
      event.field[trace::oom::kStack] = from.stack;
      SayTotals(device, event, trace::oom::kTotalAllocated, trace::oom::kTotalReserved);
      return;
    }
    case Action::kAnnotate:
      return TellName(from.address, from.bytes, snapshot_.origins[from.origin].user_metadata,
                      trace::LabelSource::kAnnotation, time_ns);
    default:
      return;
  }
}

// Reports the host memory from before the history: segments that are freed, or that are left at the end,
// without an allocation in the history.
void Telling::TellHostBeginning() {
  std::unordered_set<uint64_t> came;
  ForEachEvent(snapshot_, snapshot_.host_trace, [&](const Event& event) {
    if (event.action == Action::kSegmentAlloc) came.insert(event.address);
    if (event.action == Action::kSegmentFree && came.erase(event.address) == 0)
      TellHost(event.address, event.bytes, true, 0);
  });
  for (const Segment& segment : snapshot_.host_segments) {
    if (!came.contains(segment.address)) TellHost(segment.address, segment.bytes, true, 0);
  }
}

void Telling::TellHost(uint64_t address, uint64_t bytes, bool came, uint64_t time_ns) {
  const uint64_t flags = trace::DriverFlags(trace::DriverMemory::kHostPinned, 0);
  trace::Event& event = New(came ? EventType::kDriverAlloc : EventType::kDriverFree, time_ns);
  uint64_t* field = event.field;
  if (came) {
    field[trace::driver_alloc::kAddress] = address;
    field[trace::driver_alloc::kSize] = bytes;
    field[trace::driver_alloc::kApi] = told_.host_api;
    field[trace::driver_alloc::kLibrary] = told_.host_library;
    field[trace::driver_alloc::kFlags] = flags;
  } else {
    field[trace::driver_free::kAddress] = address;
    field[trace::driver_free::kSize] = bytes;
    field[trace::driver_free::kLibrary] = told_.host_library;
    field[trace::driver_free::kFlags] = flags;
  }
}

// The program sets one text, which holds until the next. The text of an annotation is about its block.
void Telling::TellMetadata(const Event& from, uint64_t time_ns) {
  const Origin& origin = snapshot_.origins[from.origin];
  if (!origin.has_metadata || from.action == Action::kAnnotate || from.action == Action::kOther) return;
  const uint32_t text = snapshot_.Text(origin.user_metadata).empty() ? 0 : origin.user_metadata;
  if (text == metadata_) return;
  metadata_ = text;
  trace::Event& event = New(EventType::kMark, time_ns);
  event.field[trace::mark::kKind] = static_cast<uint64_t>(trace::MarkKind::kUserMetadata);
  event.field[trace::mark::kName] = text;
}

void Telling::TellName(uint64_t address, uint64_t bytes, uint32_t name, trace::LabelSource source,
                       uint64_t time_ns) {
  trace::Event& event = New(EventType::kLabel, time_ns);
  event.field[trace::label::kAddress] = address;
  event.field[trace::label::kBytes] = bytes;
  event.field[trace::label::kRole] = static_cast<uint64_t>(trace::Role::kNamed);
  event.field[trace::label::kSource] = static_cast<uint64_t>(source);
  event.field[trace::label::kName] = name;
}

// Sends the annotations at or before `time_us`.
void Telling::TellAnnotations(uint64_t time_us) {
  const auto& all = told_.annotations;
  for (; next_annotation_ < all.size() && all[next_annotation_].time_us <= time_us; ++next_annotation_) {
    const Annotation& from = all[next_annotation_];
    const uint64_t time_ns = told_.axis.TimeOf(from.time_us);
    const std::string_view name = snapshot_.Text(from.name);
    const bool optimizer = name.starts_with(kOptimizerStep);
    trace::Event& event = New(from.start ? EventType::kRangeBegin : EventType::kRangeEnd, time_ns);
    event.field[trace::range::kKind] =
        static_cast<uint64_t>(optimizer ? trace::RangeKind::kOptimizer : trace::RangeKind::kScope);
    event.field[trace::range::kName] = from.name;
    event.field[trace::range::kId] = optimizer ? from.name : 0;
    if (!optimizer || from.start) continue;
    trace::Event& done = New(EventType::kMark, time_ns);
    done.field[trace::mark::kKind] = static_cast<uint64_t>(trace::MarkKind::kOptimizerStepDone);
    done.field[trace::mark::kValue] = ++steps_[from.name];
    done.field[trace::mark::kName] = from.name;
    done.field[trace::mark::kTensor] = from.name;
  }
}

}  // namespace vramscope::snapshot
