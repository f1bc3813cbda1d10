// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/driver_loader.h"

#include <algorithm>

#include "profiler/model/driver_finish.h"
#include "profiler/model/run.h"

namespace vramscope::model {
namespace {

using trace::DriverMemory;
using trace::Event;
using trace::EventType;

constexpr uint8_t kCuda = 1;  // c10::DeviceType

// Handles, pointers and host addresses are separate number spaces: a value in one may equal a value in
// another.
enum class Space : uint8_t { kPointer, kHandle, kReservation, kArray, kContext, kModule, kHost };

Space SpaceOf(DriverMemory kind) {
  switch (kind) {
    case DriverMemory::kPhysical:
    case DriverMemory::kReference:
    case DriverMemory::kMulticast:  // released like physical memory
      return Space::kHandle;
    case DriverMemory::kReservation:
      return Space::kReservation;
    case DriverMemory::kArray:
      return Space::kArray;
    case DriverMemory::kContext:
      return Space::kContext;
    case DriverMemory::kModule:
      return Space::kModule;
    case DriverMemory::kHostPinned:
    case DriverMemory::kHostRegistered:
      return Space::kHost;
    default:
      return Space::kPointer;
  }
}

// User addresses and handles are below 2^57 on all machines that CUDA supports; 0 stays 0.
uint64_t KeyOf(DriverMemory kind, uint64_t address) {
  return address == 0 ? 0 : address ^ static_cast<uint64_t>(SpaceOf(kind)) << 58;
}

bool IsHost(DriverMemory kind) { return SpaceOf(kind) == Space::kHost; }

// "cuda:1" even if the writer gave only the index.
uint16_t DeviceCodeOf(uint64_t device) {
  return static_cast<uint16_t>(device <= 0xff ? trace::DeviceCode(kCuda, static_cast<uint8_t>(device))
                                              : device);
}

}  // namespace

DriverLoader::DriverLoader(const Source& source) : source_(source) {}

void DriverLoader::Add(const Event& event, EventIndex now, ProcessIndex process, uint32_t stack,
                       Anomalies& anomalies) {
  now_ = now;
  counts_.At(now);
  stack_ = stack;
  anomalies_ = &anomalies;
  if (process >= processes_.size()) processes_.resize(process + 1);
  switch (event.type) {
    case EventType::kDriverAlloc:
      return AddAlloc(event, process);
    case EventType::kDriverFree:
      return AddFree(event, process);
    case EventType::kDriverMap:
      return AddMap(event, process);
    default:
      return AddTotal(event, process);
  }
}

DriverOwner DriverLoader::OwnerOf(uint32_t library) {
  const auto [known, fresh] = owners_.try_emplace(library, DriverOwner::kUser);
  if (fresh) known->second = OwnerOfLibrary(source_.String(library));
  return known->second;
}

// --- taking and giving back

void DriverLoader::AddAlloc(const Event& event, ProcessIndex process) {
  const uint64_t* field = event.field;
  ++level_.calls;
  if (field[trace::driver_alloc::kResult] != 0) {
    ++level_.failed;
    return;
  }
  DriverAllocation made;
  made.address = field[trace::driver_alloc::kAddress];
  made.size = field[trace::driver_alloc::kSize];
  made.stream = field[trace::driver_alloc::kStream];
  made.kind = trace::DriverMemoryOf(field[trace::driver_alloc::kFlags]);
  made.pool = trace::DriverPoolOf(field[trace::driver_alloc::kFlags]);
  made.begin = now_;
  made.process = process;
  made.api = static_cast<uint32_t>(field[trace::driver_alloc::kApi]);
  made.library = static_cast<uint32_t>(field[trace::driver_alloc::kLibrary]);
  made.stack = stack_;
  made.owner = OwnerOf(made.library);
  made.device_code =
      IsHost(made.kind) ? trace::DeviceCode(0, 0xff) : DeviceCodeOf(field[trace::driver_alloc::kDevice]);

  ProcessState& state = processes_[process];
  const uint64_t key = KeyOf(made.kind, made.address);
  if (made.kind == DriverMemory::kReference) {
    if (const uint32_t* known = state.handles.Find(key)) {
      ++state.physical[*known].handles;
      return;
    }
  }
  const auto index = static_cast<uint32_t>(level_.allocations.size());
  if (key != 0) {
    if (const uint32_t* before = state.live.Find(key)) {
      ++anomalies_->driver_double_allocs;
      GiveBack(*before);
      state.live.Erase(key);
    }
    *state.live.Insert(key, index).value = index;
  }
  level_.allocations.push_back(made);
  Take(index);
}

void DriverLoader::Take(uint32_t index) {
  const DriverAllocation& made = level_.allocations[index];
  ProcessState& state = processes_[made.process];
  if (SpaceOf(made.kind) == Space::kHandle) {
    const auto physical = static_cast<uint32_t>(state.physical.size());
    state.physical.push_back({index, 1, 0});
    if (made.address != 0) *state.handles.Insert(KeyOf(made.kind, made.address), physical).value = physical;
  }
  counts_.Count(made, +1);
  if (made.owner == DriverOwner::kPyTorch &&
      (made.kind == DriverMemory::kDevice || made.kind == DriverMemory::kUnknown))
    BeginSegment(made, made.address, made.size, index, false);
}

void DriverLoader::AddFree(const Event& event, ProcessIndex process) {
  const uint64_t* field = event.field;
  ++level_.calls;
  if (field[trace::driver_free::kResult] != 0) {
    ++level_.failed;
    return;
  }
  const uint64_t address = field[trace::driver_free::kAddress];
  const DriverMemory kind = trace::DriverMemoryOf(field[trace::driver_free::kFlags]);
  if (kind == DriverMemory::kModule) return UnloadCode(event, process);
  if (address == 0) return;  // cuMemFree(0) succeeds and does nothing
  ProcessState& state = processes_[process];
  const uint64_t key = KeyOf(kind, address);
  if (SpaceOf(kind) == Space::kHandle) {
    if (const uint32_t* physical = state.handles.Find(key)) return ReleaseHandle(state, *physical);
  } else if (const uint32_t* found = state.live.Find(key)) {
    const uint32_t allocation = *found;
    state.live.Erase(key);
    return GiveBack(allocation);
  }
  ++anomalies_->driver_unknown_frees;
}

// Several modules share the driver's blocks for code. So unloading frees the bytes that its own event
// reports, not the bytes that loading took.
void DriverLoader::UnloadCode(const Event& event, ProcessIndex process) {
  const uint64_t* field = event.field;
  ProcessState& state = processes_[process];
  const uint64_t key = KeyOf(DriverMemory::kModule, field[trace::driver_free::kAddress]);
  if (const uint32_t* found = key == 0 ? nullptr : state.live.Find(key)) {
    level_.allocations[*found].end = now_;
    state.live.Erase(key);
  }
  counts_.Change(process, DeviceCodeOf(field[trace::driver_free::kDevice]), DriverOwner::kContext, 0,
                 -DriverCounts::Signed(field[trace::driver_free::kSize]));
}

void DriverLoader::GiveBack(uint32_t index) {
  DriverAllocation& made = level_.allocations[index];
  if (made.end != kNever) return;
  made.end = now_;
  const auto segment = processes_[made.process].segments.find(made.address);
  if (segment != processes_[made.process].segments.end() &&
      level_.segments[segment->second].allocation == index)
    EndSegment(segment->second);
  counts_.Count(made, -1);
}

// --- virtual memory: physical memory is given back when no handle and no mapping is left

void DriverLoader::ReleaseHandle(ProcessState& state, uint32_t index) {
  Physical& physical = state.physical[index];
  if (--physical.handles != 0) return;
  const DriverAllocation& made = level_.allocations[physical.allocation];
  // From here on the driver may reuse the handle for new memory.
  state.handles.Erase(KeyOf(made.kind, made.address));
  state.live.Erase(KeyOf(made.kind, made.address));
  GiveBackIfUnused(physical);
}

void DriverLoader::GiveBackIfUnused(const Physical& physical) {
  if (physical.handles == 0 && physical.mappings == 0) GiveBack(physical.allocation);
}

void DriverLoader::AddMap(const Event& event, ProcessIndex process) {
  const uint64_t* field = event.field;
  ++level_.calls;
  if (field[trace::driver_map::kResult] != 0) {
    ++level_.failed;
    return;
  }
  const uint64_t address = field[trace::driver_map::kAddress];
  const uint64_t size = field[trace::driver_map::kSize];
  ProcessState& state = processes_[process];
  if (field[trace::driver_map::kMapped] == 0) return Unmap(state, address, size);

  Mapping mapping;
  mapping.size = size;
  DriverAllocation from;  // used if the creation of the handle was not seen
  from.kind = DriverMemory::kPhysical;
  from.process = process;
  from.device_code = DeviceCodeOf(field[trace::driver_map::kDevice]);
  from.owner = OwnerOf(static_cast<uint32_t>(field[trace::driver_map::kLibrary]));
  uint32_t allocation = kNone;
  const uint64_t handle = KeyOf(DriverMemory::kPhysical, field[trace::driver_map::kHandle]);
  if (const uint32_t* physical = handle == 0 ? nullptr : state.handles.Find(handle)) {
    mapping.physical = *physical;
    ++state.physical[*physical].mappings;
    allocation = state.physical[*physical].allocation;
    from = level_.allocations[allocation];
  }
  // Memory of another process is mapped here but not held here.
  if (from.owner == DriverOwner::kPyTorch && from.kind == DriverMemory::kPhysical)
    mapping.segment = BeginSegment(from, address, size, allocation, true);
  state.mappings[address] = mapping;
}

void DriverLoader::Unmap(ProcessState& state, uint64_t address, uint64_t size) {
  const auto first = state.mappings.lower_bound(address);
  auto last = first;
  for (; last != state.mappings.end() && last->first < address + size; ++last) {
    const Mapping& mapping = last->second;
    if (mapping.segment != kNone) EndSegment(mapping.segment);
    if (mapping.physical == kNone) continue;
    --state.physical[mapping.physical].mappings;
    GiveBackIfUnused(state.physical[mapping.physical]);
  }
  if (first == last) ++anomalies_->driver_unknown_frees;
  state.mappings.erase(first, last);
}

// --- the driver's figures

void DriverLoader::AddTotal(const Event& event, ProcessIndex process) {
  const uint64_t* field = event.field;
  const uint16_t code = DeviceCodeOf(field[trace::driver_total::kDevice]);
  const uint64_t used = field[trace::driver_total::kUsed];
  const uint64_t id = field[trace::driver_total::kId];
  counts_.NoteUse(process, code);
  switch (static_cast<trace::DriverTotalSource>(field[trace::driver_total::kSource])) {
    case trace::DriverTotalSource::kMemGetInfo:
    case trace::DriverTotalSource::kDevice:
      return counts_.AddSample(code, used, field[trace::driver_total::kTotal], process);
    case trace::DriverTotalSource::kPool:
      return counts_.SetPool(process, code, id, used);
    case trace::DriverTotalSource::kGraphs:
      return counts_.SetGraphs(process, code, used);
    case trace::DriverTotalSource::kProcess:
      return AddOtherProcess(code, id, used);
  }
}

// Recorded processes are skipped: their own driver calls are better evidence.
void DriverLoader::AddOtherProcess(uint16_t code, uint64_t pid, uint64_t used) {
  const auto& recorded = source_.processes();
  if (std::any_of(recorded.begin(), recorded.end(), [&](const auto& info) { return info.pid == pid; }))
    return;
  uint64_t& last = others_[{code, pid}];
  counts_.ChangeOfOthers(code, DriverCounts::Signed(used) - DriverCounts::Signed(last));
  last = used;
}

// --- segments and the blocks in them

uint32_t DriverLoader::BeginSegment(const DriverAllocation& from, uint64_t address, uint64_t size,
                                    uint32_t allocation, bool mapped) {
  const auto index = static_cast<uint32_t>(level_.segments.size());
  level_.segments.push_back(
      {address, size, now_, kNever, allocation, from.process, from.device_code, mapped});
  processes_[from.process].segments[address] = index;
  processes_[from.process].had_segments = true;
  counts_.ChangeSegments(from.process, from.device_code, DriverCounts::Signed(size));
  return index;
}

void DriverLoader::EndSegment(uint32_t index) {
  Segment& segment = level_.segments[index];
  segment.end = now_;
  auto& alive = processes_[segment.process].segments;
  const auto found = alive.find(segment.address);
  if (found != alive.end() && found->second == index) alive.erase(found);
  counts_.ChangeSegments(segment.process, segment.device_code, -DriverCounts::Signed(segment.size));
}

void DriverLoader::JoinBlockOf(ProcessIndex process, BlockId block, uint16_t device_code, uint64_t address,
                               uint64_t reserved, Anomalies& anomalies) {
  const std::optional<uint64_t> total = counts_.SegmentBytes(process, device_code);
  if (!total) return;
  if (reserved != 0 && reserved != *total) ++anomalies.segment_mismatches;
  const ProcessState& state = processes_[process];
  auto after = state.segments.upper_bound(address);
  uint32_t segment = kNone;
  if (after != state.segments.begin()) {
    --after;
    if (address - after->first < level_.segments[after->second].size) segment = after->second;
  }
  if (segment == kNone) ++anomalies.blocks_outside_segments;
  while (level_.segment_of_block.size() < block) level_.segment_of_block.push_back(kNone);
  level_.segment_of_block.push_back(segment);
}

DriverLevel DriverLoader::Finish(const std::vector<trace::ProcessInfo>& processes, const TimeIndex& times,
                                 Anomalies& anomalies) && {
  return FinishDriverLevel(std::move(level_), std::move(counts_), processes, times, anomalies);
}

}  // namespace vramscope::model
