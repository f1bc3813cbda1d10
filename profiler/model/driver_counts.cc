// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/driver_counts.h"

#include <algorithm>

namespace vramscope::model {
namespace {

using trace::DriverMemory;

// The page size of cuMemAlloc: the smallest granularity that cuMemGetAllocationGranularity returns on every
// device so far. Smaller requests share a page. A page is in use while any of them is.
constexpr uint64_t kPage = uint64_t{2} << 20;

}  // namespace

void DriverCounts::Count(const DriverAllocation& made, int64_t sign) {
  const int64_t bytes = sign * Signed(made.size);
  const uint32_t named = made.owner == DriverOwner::kUser ? made.library : 0;
  switch (made.kind) {
    case DriverMemory::kUnknown:
    case DriverMemory::kDevice:
      return CountInPages(made, sign, made.owner, named);
    case DriverMemory::kManaged:
      return CountInPages(made, sign, DriverOwner::kManaged, made.library);
    case DriverMemory::kArray:  // has no address, so nothing else lies in its pages
      Change(made.process, made.device_code, DriverOwner::kRounding, 0,
             sign * Signed((kPage - made.size % kPage) % kPage));
      return Change(made.process, made.device_code, made.owner, named, bytes);
    case DriverMemory::kPhysical:
      return Change(made.process, made.device_code, made.owner, named, bytes);
    case DriverMemory::kContext:
    case DriverMemory::kModule:
      return Change(made.process, made.device_code, DriverOwner::kContext, 0, bytes);
    case DriverMemory::kPoolBlock:
      return CountInPool(made, sign, named);
    case DriverMemory::kHostPinned:
    case DriverMemory::kHostRegistered:
      return CountPinned(made, sign);
    case DriverMemory::kReference:
    case DriverMemory::kReservation:
    case DriverMemory::kGraph:  // DriverTotalSource::kGraphs reports the used memory
    case DriverMemory::kImported:
    case DriverMemory::kMulticast:  // binds memory that cuMemCreate made
      return;
  }
}

// The row for page rounding changes first when memory is allocated and last when it is freed, so the rows
// never add up to more memory than exists.
void DriverCounts::CountInPages(const DriverAllocation& made, int64_t sign, DriverOwner owner,
                                uint32_t library) {
  Device& device = DeviceOf(made.process, made.device_code);
  if (sign > 0) CountPages(device, made, true);
  Change(made.process, made.device_code, owner, library, sign * Signed(made.size));
  if (sign < 0) CountPages(device, made, false);
}

void DriverCounts::Change(ProcessIndex process, uint16_t code, DriverOwner owner, uint32_t library,
                          int64_t bytes) {
  if (bytes == 0) return;
  DeviceOf(process, code);
  changes_.push_back({now_, RowOf({code, {process, owner, library}}), bytes});
}

void DriverCounts::ChangeOfOthers(uint16_t code, int64_t bytes) {
  if (bytes != 0) changes_.push_back({now_, RowOf({code, {kNone, DriverOwner::kUser, 0}}), bytes});
}

void DriverCounts::AddSample(uint16_t code, uint64_t used, uint64_t capacity, ProcessIndex process) {
  NoteUse(process, code);
  samples_.push_back({code, {now_, process, used, capacity}});
}

void DriverCounts::SetPool(ProcessIndex process, uint16_t code, uint64_t pool, uint64_t reserved) {
  Device& device = DeviceOf(process, code);
  SetPoolOf(device, process, pool, reserved, device.pools[pool].blocks);
}

void DriverCounts::SetGraphs(ProcessIndex process, uint16_t code, uint64_t reserved) {
  Device& device = DeviceOf(process, code);
  Change(process, code, DriverOwner::kGraphs, 0, Signed(reserved) - Signed(device.graphs_reserved));
  device.graphs_reserved = reserved;
}

void DriverCounts::ChangeSegments(ProcessIndex process, uint16_t code, int64_t bytes) {
  std::optional<uint64_t>& segments = DeviceOf(process, code).segments;
  segments = segments.value_or(0) + static_cast<uint64_t>(bytes);
}

std::optional<uint64_t> DriverCounts::SegmentBytes(ProcessIndex process, uint16_t code) const {
  if (process >= processes_.size()) return std::nullopt;
  const std::map<uint16_t, Device>& devices = processes_[process].devices;
  const auto found = devices.find(code);
  return found == devices.end() ? std::nullopt : found->second.segments;
}

std::map<uint16_t, std::vector<ProcessIndex>> DriverCounts::UsersOfDevices() const {
  std::map<uint16_t, std::vector<ProcessIndex>> users;
  for (ProcessIndex process = 0; process < processes_.size(); ++process) {
    for (const auto& [code, device] : processes_[process].devices) users[code].push_back(process);
  }
  return users;
}

DriverCounts::Process& DriverCounts::ProcessOf(ProcessIndex process) {
  if (process >= processes_.size()) processes_.resize(process + 1);
  return processes_[process];
}

DriverCounts::Device& DriverCounts::DeviceOf(ProcessIndex process, uint16_t code) {
  std::map<uint16_t, Device>& devices = ProcessOf(process).devices;
  const auto found = devices.find(code);
  if (found != devices.end()) return found->second;
  if (devices.size() == kMostDriverDevices) return devices.rbegin()->second;
  Device& device = devices[code];
  device.code = code;
  return device;
}

uint32_t DriverCounts::RowOf(const Row& wanted) {
  const auto [row, fresh] = row_of_.try_emplace(
      std::tuple(wanted.code, wanted.row.process, wanted.row.owner, wanted.row.library), rows_.size());
  if (fresh) rows_.push_back(wanted);
  return row->second;
}

// Other allocations can share only the first and the last page of an allocation.
void DriverCounts::CountPages(Device& device, const DriverAllocation& made, bool taken) {
  if (made.address == 0 || made.size == 0) return;
  const uint64_t first = made.address / kPage;
  const uint64_t last = (made.address + made.size - 1) / kPage;
  const uint64_t in_first = std::min(made.size, (first + 1) * kPage - made.address);
  if (in_first != kPage) CountPage(device, made, first, in_first, taken);
  if (last == first) return;
  const uint64_t in_last = made.address + made.size - last * kPage;
  if (in_last != kPage) CountPage(device, made, last, in_last, taken);
}

void DriverCounts::CountPage(Device& device, const DriverAllocation& made, uint64_t page, uint64_t bytes,
                             bool taken) {
  uint64_t& asked = device.pages[page];
  const auto unasked = [](uint64_t of) { return of == 0 ? 0 : Signed(kPage) - Signed(of); };
  const int64_t before = unasked(asked);
  asked = taken ? asked + bytes : asked - std::min(asked, bytes);
  Change(made.process, made.device_code, DriverOwner::kRounding, 0, unasked(asked) - before);
  if (asked == 0) device.pages.erase(page);
}

// The pool's own row changes first when a block is allocated and last when it is freed, like that of a page.
void DriverCounts::CountInPool(const DriverAllocation& made, int64_t sign, uint32_t library) {
  Device& device = DeviceOf(made.process, made.device_code);
  const Pool pool = device.pools[made.pool];
  const auto set = [&](uint64_t blocks) {
    SetPoolOf(device, made.process, made.pool, pool.reserved, blocks);
  };
  if (sign > 0) set(pool.blocks + made.size);
  Change(made.process, made.device_code, made.owner, library, sign * Signed(made.size));
  if (sign < 0) set(pool.blocks - made.size);
}

void DriverCounts::SetPoolOf(Device& device, ProcessIndex process, uint64_t id, uint64_t reserved,
                             uint64_t blocks) {
  Pool& pool = device.pools[id];
  const Pool before = pool;
  pool.blocks = blocks;
  pool.reserved =
      std::max(reserved, blocks);  // the driver's figure comes later; a pool holds at least its blocks
  const auto unused = [](const Pool& of) { return Signed(of.reserved) - Signed(of.blocks); };
  Change(process, device.code, DriverOwner::kPools, 0, unused(pool) - unused(before));
}

void DriverCounts::CountPinned(const DriverAllocation& made, int64_t sign) {
  Process& state = ProcessOf(made.process);
  if (state.pinned_index == kNone) {
    state.pinned_index = static_cast<uint32_t>(pinned_.size());
    pinned_.push_back({made.process, {}, {}});
  }
  const uint64_t bytes = sign > 0 ? made.size : 0 - made.size;
  state.pinned += bytes;
  pinned_[state.pinned_index].bytes.push_back({now_, Signed(state.pinned)});
  if (made.owner != DriverOwner::kPyTorch && made.owner != DriverOwner::kPyTorchBeside) return;
  state.pinned_by_pytorch += bytes;
  pinned_[state.pinned_index].by_pytorch.push_back({now_, Signed(state.pinned_by_pytorch)});
}

}  // namespace vramscope::model
