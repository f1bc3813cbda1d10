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

// The allocator's own total and ours are computed under different locks, so two threads may make them differ
// for a moment. Only a difference that persists for this many consecutive reports is accepted.
constexpr uint32_t kBelievedAfter = 16;
constexpr uint8_t kCpu = 0;  // c10::DeviceType
// Per process. c10::DeviceIndex has 8 bits; the last device stands for all beyond it.
constexpr size_t kMostDevices = 256;

}  // namespace

Loader::Loader(std::shared_ptr<const Source> source) : driver_(*source) {
  run_.source = std::move(source);
  run_.streams = {0};
  for (const trace::ProcessInfo& info : run_.source->processes()) {
    run_.processes.emplace_back().info = info;
    processes_.emplace_back();
  }
  for (const trace::ThreadInfo& info : run_.source->threads()) {
    // The thread belongs to a process that the trace does not define: its events count as bad.
    run_.threads.push_back({info, info.process < run_.processes.size() ? info.process : kNone});
  }
  threads_.resize(run_.threads.size());
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
  ThreadState& thread = threads_[event.thread];
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
      return AddLabel(event, process);
    case EventType::kSaved:
      return AddSaved(event, process);
    case EventType::kSavedReleased:
      return AddReleased(event, process);
    case EventType::kRangeBegin:
      return BeginRange(event, process);
    case EventType::kRangeEnd:
      return EndRange(event, process);
    case EventType::kNodeBegin:
      return BeginNode(event, process);
    case EventType::kCoverage:
      return AddCoverage(event, process);
    case EventType::kNodeEnd:
      return CloseContextOn(thread, ContextKind::kNode, field[trace::node::kNode], 0);
    case EventType::kOpBegin:
      return OpenContextOn(thread, ContextKind::kOp, thread.context,
                           static_cast<uint32_t>(field[trace::op::kName]), 0,
                           static_cast<uint32_t>(field[trace::op::kStack]));
    case EventType::kOpEnd:
      return CloseContextOn(thread, ContextKind::kOp, 0, 0);
    case EventType::kNodeCreated:
      if (field[0] != trace::node::kNoSequence) {
        *processes_[process].created.Insert(field[0] + 1, 0).value = run_.contexts.ModulePath(thread.context);
      }
      return;
    case EventType::kMark:
      run_.processes[process].marks.push_back(static_cast<uint32_t>(run_.marks.size()));
      run_.marks.push_back({now_, event.thread, static_cast<trace::MarkKind>(field[trace::mark::kKind]),
                            static_cast<uint32_t>(field[trace::mark::kName]), field[trace::mark::kValue],
                            field[trace::mark::kTensor]});
      if (run_.marks.back().kind == trace::MarkKind::kCheckpointFreed) {
        FreeCheckpoint(field[trace::mark::kValue], process);
      }
      return;
    case EventType::kOutOfMemory:
      run_.out_of_memory.push_back({now_, event.thread, static_cast<uint16_t>(field[trace::oom::kDevice]),
                                    StackOn(thread, field[trace::oom::kStack]), field[trace::oom::kRequested],
                                    field[trace::oom::kTotalAllocated], field[trace::oom::kTotalReserved]});
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
      return driver_.Add(event, now_, process, threads_[event.thread].stack, run_.anomalies);
    // Data for other readers of the trace (op operands, graph edges).
    default:
      return;
  }
}

// The Python line of the call is more useful than the C++ frames below it.
uint32_t Loader::StackOn(const ThreadState& thread, uint64_t of_event) {
  return thread.stack != 0 ? thread.stack : static_cast<uint32_t>(of_event);
}

void Loader::AddAlloc(const Event& event, ProcessIndex process) {
  const uint64_t* field = event.field;
  const DeviceIndex device = FindDevice(process, field[trace::alloc::kDevice]);
  const auto id = static_cast<BlockId>(run_.blocks.size());

  const uint64_t address = field[trace::alloc::kAddress];
  if (address == 0) {
    ++run_.anomalies.bad_events;  // it can never be freed or labeled, but its bytes count
  } else if (const auto [known, fresh] = processes_[process].live.Insert(address, id); !fresh) {
    ++run_.anomalies.double_allocs;
    const BlockId before = *known;
    *known = id;
    EndBlock(before, FindDevice(process, run_.blocks[before].device_code));
  }

  const uint64_t size = field[trace::alloc::kSize];
  const uint64_t requested = field[trace::alloc::kRequested];
  Block block;
  block.address = address;
  block.size = size;
  block.alloc_event = now_;
  block.thread = event.thread;
  block.context = threads_[event.thread].context;
  block.stack = StackOn(threads_[event.thread], field[trace::alloc::kStack]);
  if (requested != 0 && requested <= size && size - requested < Block::kUnknownSlack) {
    block.slack = static_cast<uint32_t>(size - requested);
  }
  block.device_code = run_.devices[device].code;
  block.stream = FindStream(field[trace::alloc::kStream]);
  run_.blocks.push_back(block);
  if (address != 0 && processes_[process].ordered) processes_[process].ordered->insert_or_assign(address, id);

  run_.devices[device].changes.push_back(Change(now_, id, false));
  devices_[device].allocated += size;
  driver_.JoinBlock(id, process, block.device_code, address, field[trace::alloc::kTotalReserved],
                    run_.anomalies);
  CheckTotal(device, true, field[trace::alloc::kTotalAllocated], field[trace::alloc::kTotalReserved]);
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
  if (processes_[process].ordered) processes_[process].ordered->erase(address);
  EndBlock(id, device);
  CheckTotal(device, false, field[trace::free_::kTotalAllocated], field[trace::free_::kTotalReserved]);
}

void Loader::EndBlock(BlockId id, DeviceIndex device) {
  run_.blocks[id].free_event = now_;
  run_.devices[device].changes.push_back(Change(now_, id, true));
  devices_[device].allocated -= run_.blocks[id].size;
}

void Loader::CheckTotal(DeviceIndex index, bool allocation, uint64_t total_allocated,
                        uint64_t total_reserved) {
  Device& device = run_.devices[index];
  DeviceState& state = devices_[index];
  // CPU allocators count separately and lose counts, so their totals prove nothing.
  if (trace::DeviceTypeOf(device.code) == kCpu) return;
  const bool first = !state.reports_totals;
  if (allocation && total_allocated != 0) state.reports_totals = true;
  if (!state.reports_totals) return;

  if (state.reserved != total_reserved) {
    state.reserved = total_reserved;
    device.reserved.push_back({now_, static_cast<int64_t>(total_reserved)});
  }
  const auto difference = static_cast<int64_t>(total_allocated - state.allocated);
  if (difference == state.unseen) {
    state.candidate_streak = 0;
    return;
  }
  if (!first) ++run_.anomalies.total_mismatches;
  state.candidate_streak = difference == state.unseen_candidate ? state.candidate_streak + 1 : 1;
  state.unseen_candidate = difference;
  // A total below our sum means that frees were missed. It is not known of which blocks, so the blocks are
  // kept.
  if ((!first && state.candidate_streak < kBelievedAfter) || difference < 0) return;
  state.unseen = difference;
  device.unseen.push_back({now_, difference});
}

BlockFacts& Loader::FactsOf(BlockId id) {
  Block& block = run_.blocks[id];
  if (block.facts == kNone) {
    block.facts = static_cast<uint32_t>(run_.facts.size());
    run_.facts.push_back({.block = id});
  }
  return run_.facts[block.facts];
}

void Loader::AddSaved(const Event& event, ProcessIndex process) {
  const uint64_t address = event.field[trace::saved::kAddress];
  const uint32_t* found = address == 0 ? nullptr : processes_[process].live.Find(address);
  if (!processes_[process].save_noted) {
    processes_[process].save_noted = true;
    // A saved output was allocated by the op that saves it, so forward was already running then.
    const bool is_output = event.field[trace::saved::kIsOutput] != 0 && found != nullptr;
    const EventIndex shown = is_output ? run_.blocks[*found].alloc_event : now_;
    run_.processes[process].first_saves.push_back(std::max(shown, processes_[process].last_edge));
  }
  if (address == 0) return;
  if (found == nullptr) {
    ++run_.anomalies.saves_without_block;
    return;
  }
  BlockFacts& facts = FactsOf(*found);
  ++facts.saved_now;
  facts.released = kNever;
  facts.first_saved = std::min(facts.first_saved, now_);
  const ThreadState& thread = threads_[event.thread];
  if (!thread.checkpoints.empty())
    processes_[process].checkpoints[thread.checkpoints.back()].push_back(*found);
}

void Loader::AddReleased(const Event& event, ProcessIndex process) {
  const uint64_t address = event.field[trace::saved::kAddress];
  if (address == 0) return;
  const uint32_t* found = processes_[process].live.Find(address);
  const uint32_t index = found == nullptr ? kNone : run_.blocks[*found].facts;
  if (index == kNone || run_.facts[index].saved_now == 0) {
    ++run_.anomalies.releases_without_save;
    return;
  }
  ReleaseOne(run_.facts[index]);
}

void Loader::ReleaseOne(BlockFacts& facts) const {
  if (facts.saved_now != 0 && --facts.saved_now == 0) facts.released = now_;
}

// A checkpoint keeps tensors in Python objects that are freed together. Autograd does not report their
// release.
void Loader::FreeCheckpoint(uint64_t id, ProcessIndex process) {
  const auto kept = processes_[process].checkpoints.extract(id);
  if (kept.empty()) return;
  for (const BlockId block : kept.mapped()) {
    if (run_.blocks[block].free_event == kNever) ReleaseOne(run_.facts[run_.blocks[block].facts]);
  }
}

// The allocator's reserved memory also changes without an allocation, when it gives back its cache.
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
  for (const DeviceIndex index : run_.processes[process].devices) {
    if (run_.devices[index].code != change.device_code || !devices_[index].reports_totals) continue;
    uint64_t& reserved = devices_[index].reserved;
    reserved = change.came ? reserved + change.size : reserved - std::min(reserved, change.size);
    run_.devices[index].reserved.push_back({now_, static_cast<int64_t>(reserved)});
  }
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
  devices_.emplace_back();
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

bool Loader::InheritedFromParent(ProcessIndex process, uint64_t address) const {
  const ProcessIndex parent = processes_[process].parent;
  return parent != kNone && processes_[parent].live.Find(address) != nullptr;
}

}  // namespace vramscope::model
