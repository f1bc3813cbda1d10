// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/loader.h"

#include <algorithm>
#include <unordered_map>

#include "profiler/model/coverage.h"

namespace vramscope::model {
namespace {

using trace::Event;
using trace::EventType;
using trace::RangeKind;

// Per process. c10::DeviceIndex has 8 bits; the last device stands for all beyond it.
constexpr size_t kMostDevices = 256;

// The processes and threads that `source` defines, and no events yet.
Run EmptyRun(std::shared_ptr<const Source> source) {
  Run run;
  run.source = std::move(source);
  run.streams = {0};
  for (const trace::ProcessInfo& info : run.source->processes()) run.processes.emplace_back().info = info;
  for (const trace::ThreadInfo& info : run.source->threads()) {
    // The thread belongs to a process that the trace does not define: its events count as bad.
    run.threads.push_back({info, info.process < run.processes.size() ? info.process : kNone});
  }
  return run;
}

}  // namespace

Loader::Loader(std::shared_ptr<const Source> source)
    : run_(EmptyRun(std::move(source))),
      driver_(*run_.source),
      scopes_(run_),
      saved_(run_),
      labels_(run_),
      totals_(run_),
      processes_(run_.processes.size()) {
  std::unordered_map<uint32_t, ProcessIndex> by_pid;
  for (ProcessIndex i = 0; i < run_.processes.size(); ++i) by_pid[run_.processes[i].info.pid] = i;
  for (ProcessIndex i = 0; i < run_.processes.size(); ++i) {
    const auto parent = by_pid.find(run_.processes[i].info.parent_pid);
    if (parent != by_pid.end() && parent->second != i) processes_[i].parent = parent->second;
  }
}

void Loader::Add(std::span<const Event> events) {
  for (const Event& event : events) AddOne(event);
}

Run Loader::Finish() && {
  run_.driver = std::move(driver_).Finish(run_.source->processes(), run_.times, run_.anomalies);
  return std::move(run_);
}

void Loader::AddOne(const Event& event) {
  if (run_.times.size() >= kMaxEvents || run_.blocks.size() >= kMaxBlocks) {
    ++run_.anomalies.not_loaded;
    return;
  }
  now_ = run_.times.size();
  if (!run_.times.Append(event.time_ns)) ++run_.anomalies.late_events;
  const auto type = static_cast<size_t>(event.type);
  if (type < trace::kEventTypeCount) ++run_.event_counts[type];
  if (event.thread >= run_.threads.size() || run_.threads[event.thread].process == kNone) {
    ++run_.anomalies.bad_events;
    return;
  }
  const ProcessIndex process = run_.threads[event.thread].process;
  ++run_.processes[process].events;
  const uint64_t* field = event.field;

  switch (event.type) {
    case EventType::kAlloc:
      return AddAlloc(event, process);
    case EventType::kFree:
      return AddFree(event, process);
    case EventType::kFreeCompleted:
      run_.free_completions.push_back({now_, process, static_cast<uint16_t>(field[1]), field[0]});
      return;
    case EventType::kLabel:
      return labels_.Add(event, processes_[process].live, process, now_);
    case EventType::kSaved:
      return saved_.Save(event, BlockAt(field[trace::saved::kAddress], process),
                         scopes_.CheckpointOn(event.thread), process, now_);
    case EventType::kSavedReleased:
      return saved_.Release(event, BlockAt(field[trace::saved::kAddress], process), now_);
    case EventType::kRangeBegin:
      saved_.NoteRange(static_cast<RangeKind>(field[trace::range::kKind]), process, now_);
      return scopes_.BeginRange(event, process, now_);
    case EventType::kRangeEnd:
      saved_.NoteRange(static_cast<RangeKind>(field[trace::range::kKind]), process, now_);
      return scopes_.EndRange(event, process, now_);
    case EventType::kNodeBegin:
      return scopes_.BeginNode(event, process);
    case EventType::kNodeEnd:
      return scopes_.EndNode(event);
    case EventType::kNodeCreated:
      return scopes_.NoteCreatedNode(event, process);
    case EventType::kOpBegin:
      return scopes_.BeginOp(event);
    case EventType::kOpEnd:
      return scopes_.EndOp(event);
    case EventType::kCoverage:
      return AddCoverage(event, process);
    case EventType::kMark:
      return AddMark(event, process);
    case EventType::kOutOfMemory:
      run_.out_of_memory.push_back({now_, event.thread, static_cast<uint16_t>(field[trace::oom::kDevice]),
                                    scopes_.StackOn(event.thread, field[trace::oom::kStack]),
                                    field[trace::oom::kRequested], field[trace::oom::kTotalAllocated],
                                    field[trace::oom::kTotalReserved]});
      return;
    case EventType::kCounter:
      run_.counters.push_back({now_, process, static_cast<uint32_t>(field[trace::counter::kName]),
                               static_cast<uint32_t>(field[trace::counter::kDevice]),
                               field[trace::counter::kValue]});
      return;
    case EventType::kSegment:
      return AddSegmentChange(event, process);
    case EventType::kLost:
      run_.losses.push_back({event.thread, field[trace::lost::kCount], field[trace::lost::kFirstNs],
                             field[trace::lost::kLastNs]});
      return;
    case EventType::kDriverAlloc:
    case EventType::kDriverFree:
    case EventType::kDriverMap:
    case EventType::kDriverTotal:
      return driver_.Add(event, now_, process, scopes_.StackOn(event.thread), run_.anomalies);
    // Data for other readers of the trace (op operands, graph edges).
    default:
      return;
  }
}

void Loader::AddAlloc(const Event& event, ProcessIndex process) {
  const uint64_t* field = event.field;
  const DeviceIndex device = FindDevice(process, field[trace::alloc::kDevice]);
  const auto id = static_cast<BlockId>(run_.blocks.size());

  const uint64_t address = field[trace::alloc::kAddress];
  if (address == 0) {
    ++run_.anomalies.bad_events;  // it can never be freed or labeled, but its bytes count
  } else if (const BlockId before = processes_[process].live.Add(address, id); before != kNone) {
    ++run_.anomalies.double_allocs;
    EndBlock(before, FindDevice(process, run_.blocks[before].device_code));
  }

  const uint64_t size = field[trace::alloc::kSize];
  const uint64_t requested = field[trace::alloc::kRequested];
  Block block;
  block.address = address;
  block.size = size;
  block.alloc_event = now_;
  block.thread = event.thread;
  block.context = scopes_.ContextOn(event.thread);
  block.stack = scopes_.StackOn(event.thread, field[trace::alloc::kStack]);
  if (requested != 0 && requested <= size && size - requested < Block::kUnknownSlack) {
    block.slack = static_cast<uint32_t>(size - requested);
  }
  block.device_code = run_.devices[device].code;
  block.stream = FindStream(field[trace::alloc::kStream]);
  run_.blocks.push_back(block);

  run_.devices[device].changes.push_back(Change(now_, id, false));
  driver_.JoinBlock(id, process, block.device_code, address, field[trace::alloc::kTotalReserved],
                    run_.anomalies);
  totals_.NoteAlloc(device, size, field[trace::alloc::kTotalAllocated], field[trace::alloc::kTotalReserved],
                    now_);
}

void Loader::AddFree(const Event& event, ProcessIndex process) {
  const uint64_t* field = event.field;
  const uint64_t address = field[trace::free_::kAddress];
  const uint32_t* found = processes_[process].live.Find(address);
  if (found == nullptr) {
    ++run_.anomalies.unknown_frees;
    if (InheritedFromParent(process, address)) ++run_.anomalies.inherited_frees;
    return;
  }
  const BlockId id = *found;
  const Block& block = run_.blocks[id];
  const uint64_t size = field[trace::free_::kSize];
  if (size != 0 && size != block.size) ++run_.anomalies.size_mismatches;
  // Uses the block's device, not the event's: a free may not know its device.
  const DeviceIndex device = FindDevice(process, block.device_code);
  processes_[process].live.Erase(address);
  EndBlock(id, device);
  totals_.NoteFree(device, field[trace::free_::kTotalAllocated], field[trace::free_::kTotalReserved], now_);
}

void Loader::EndBlock(BlockId id, DeviceIndex device) {
  run_.blocks[id].free_event = now_;
  run_.devices[device].changes.push_back(Change(now_, id, true));
  totals_.Subtract(device, run_.blocks[id].size);
}

void Loader::AddMark(const Event& event, ProcessIndex process) {
  const uint64_t* field = event.field;
  run_.processes[process].marks.push_back(static_cast<uint32_t>(run_.marks.size()));
  run_.marks.push_back({now_, event.thread, static_cast<trace::MarkKind>(field[trace::mark::kKind]),
                        static_cast<uint32_t>(field[trace::mark::kName]), field[trace::mark::kValue],
                        field[trace::mark::kTensor]});
  if (run_.marks.back().kind == trace::MarkKind::kCheckpointFreed)
    saved_.FreeCheckpoint(field[trace::mark::kValue], process, now_);
}

void Loader::AddSegmentChange(const Event& event, ProcessIndex process) {
  const uint64_t* field = event.field;
  SegmentChange change;
  change.event = now_;
  change.process = process;
  change.device_code = static_cast<uint16_t>(field[trace::segment::kDevice]);
  change.came = (field[trace::segment::kChange] & trace::segment::kCame) != 0;
  change.mapped = (field[trace::segment::kChange] & trace::segment::kMapped) != 0;
  change.address = field[trace::segment::kAddress];
  change.size = field[trace::segment::kSize];
  change.stream = FindStream(field[trace::segment::kStream]);
  run_.segment_changes.push_back(change);
  totals_.NoteSegment(change);
}

void Loader::AddCoverage(const Event& event, ProcessIndex process) {
  const std::string_view hook = run_.Text(static_cast<uint32_t>(event.field[trace::coverage::kHook]));
  const auto state = static_cast<trace::CoverageState>(event.field[trace::coverage::kState]);
  const std::string_view detail = run_.Text(static_cast<uint32_t>(event.field[trace::coverage::kDetail]));
  if (state == kHookFailed) {  // every failure counts
    run_.coverage.push_back({process, std::string(hook), state, std::string(detail)});
    return;
  }
  const auto [place, fresh] = coverage_.try_emplace({process, hook}, run_.coverage.size());
  if (fresh) run_.coverage.push_back({process, std::string(hook), {}, {}});
  Coverage& coverage = run_.coverage[place->second];
  coverage.state = state;
  coverage.detail = detail;
}

DeviceIndex Loader::FindDevice(ProcessIndex process, uint64_t code) {
  const auto wanted = static_cast<uint16_t>(code);
  for (const DeviceIndex known : run_.processes[process].devices) {
    if (run_.devices[known].code == wanted) return known;
  }
  if (run_.processes[process].devices.size() == kMostDevices) {
    ++run_.anomalies.bad_events;
    return run_.processes[process].devices.back();
  }
  const auto index = static_cast<DeviceIndex>(run_.devices.size());
  Device& device = run_.devices.emplace_back();
  device.process = process;
  device.code = wanted;
  device.name = DeviceName(wanted);
  totals_.AddDevice();
  run_.processes[process].devices.push_back(index);
  return index;
}

uint16_t Loader::FindStream(uint64_t stream) {
  if (stream == run_.streams.back()) return static_cast<uint16_t>(run_.streams.size() - 1);
  const auto found = std::find(run_.streams.begin(), run_.streams.end(), stream);
  if (found != run_.streams.end()) return static_cast<uint16_t>(found - run_.streams.begin());
  // PyTorch's pools have 32 per device and priority; the last one stands for all beyond it.
  constexpr size_t kMaxStreams = 1024;
  if (run_.streams.size() < kMaxStreams) run_.streams.push_back(stream);
  return static_cast<uint16_t>(run_.streams.size() - 1);
}

const BlockId* Loader::BlockAt(uint64_t address, ProcessIndex process) const {
  return address == 0 ? nullptr : processes_[process].live.Find(address);
}

bool Loader::InheritedFromParent(ProcessIndex process, uint64_t address) const {
  const ProcessIndex parent = processes_[process].parent;
  return parent != kNone && processes_[parent].live.Find(address) != nullptr;
}

}  // namespace vramscope::model
