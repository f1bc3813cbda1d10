// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/virtual_memory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iterator>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/device.h"
#include "injector/simulated_cuda/device/ipc_memory.h"
#include "injector/simulated_cuda/device/settings.h"

namespace vramscope::simulated {
namespace {

// Follows the contents in the file of a handle, so that a descriptor identifies itself.
struct FileEnd {
  uint64_t mark;
  uint64_t bytes;
  int64_t device;  // as the machine numbers it
};
constexpr uint64_t kFileMark = 0x796870732d736376;  // "vcs-sphy"

bool IsWhole(uint64_t value) { return value % kGranule == 0; }

// The entry of an ordered map of ranges that contains the address; end() when none does.
template <typename Map>
auto Containing(Map& ranges, uint64_t address) {
  auto found = ranges.upper_bound(address);
  if (found == ranges.begin()) return ranges.end();
  found = std::prev(found);
  return address - found->first < found->second.bytes ? found : ranges.end();
}

}  // namespace

int VirtualMemory::Create(int device, uint64_t bytes, const Origin& origin, PhysicalHandle* handle) {
  if (bytes == 0 || !IsWhole(bytes)) return kInvalidValue;
  LedgerRow* const row = DeviceNumber(device).TakePhysical(bytes, origin);
  if (row == nullptr) return kOutOfMemory;
  const std::lock_guard<std::mutex> lock(mutex_);
  *handle = next_++;
  physical_[*handle] = {device, bytes, row, 1};
  return kSuccess;
}

int VirtualMemory::Drop(PhysicalHandle handle) {
  const auto found = physical_.find(handle);
  if (found == physical_.end()) return kInvalidValue;
  if (--found->second.references != 0) return kSuccess;
  if (found->second.row != nullptr)
    DeviceNumber(found->second.device).GivePhysical(found->second.row, found->second.bytes);
  if (found->second.file >= 0) close(found->second.file);
  physical_.erase(found);
  return kSuccess;
}

int VirtualMemory::Release(PhysicalHandle handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Drop(handle);
}

int VirtualMemory::Retain(uint64_t address, PhysicalHandle* handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto mapping = Containing(mappings_, address);
  if (mapping == mappings_.end()) return kInvalidValue;
  *handle = mapping->second.handle;
  physical_[*handle].references++;
  return kSuccess;
}

int VirtualMemory::Reserve(int device, uint64_t bytes, uint64_t alignment, uint64_t wanted,
                           uint64_t* address) {
  if (bytes == 0 || !IsWhole(bytes)) return kInvalidValue;
  *address = DeviceNumber(device).ReserveAddresses(bytes, alignment, wanted);
  if (*address == 0) return kOutOfMemory;
  const std::lock_guard<std::mutex> lock(mutex_);
  reservations_[*address] = {bytes, device};
  return kSuccess;
}

int VirtualMemory::FreeAddresses(uint64_t address, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = reservations_.find(address);
  if (found == reservations_.end() || found->second.bytes != bytes) return kInvalidValue;
  const auto mapping = mappings_.lower_bound(address);
  if (mapping != mappings_.end() && mapping->first < address + bytes) return kInvalidValue;
  DeviceNumber(found->second.device).GiveAddresses(address, bytes);
  reservations_.erase(found);
  return kSuccess;
}

int VirtualMemory::Map(uint64_t address, uint64_t bytes, PhysicalHandle handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto physical = physical_.find(handle);
  const auto reservation = Containing(reservations_, address);
  if (physical == physical_.end() || reservation == reservations_.end() || bytes != physical->second.bytes)
    return kInvalidValue;
  if (!IsWhole(address) || bytes > reservation->first + reservation->second.bytes - address)
    return kInvalidValue;
  const auto next = mappings_.lower_bound(address);
  if (next != mappings_.end() && next->first < address + bytes) return kInvalidValue;
  if (Containing(mappings_, address) != mappings_.end()) return kInvalidValue;
  if (physical->second.file >= 0)
    DeviceNumber(DeviceOf(address)).region().Share(address, bytes, physical->second.file, /*keep=*/false);
  mappings_[address] = {bytes, handle};
  physical->second.references++;
  return kSuccess;
}

int VirtualMemory::Unmap(uint64_t address, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto first = mappings_.find(address);
  auto last = first;
  uint64_t covered = 0;
  while (last != mappings_.end() && last->first == address + covered && covered < bytes) {
    covered += last->second.bytes;
    ++last;
  }
  if (first == mappings_.end() || covered != bytes) return kInvalidValue;
  Region& region = DeviceNumber(DeviceOf(address)).region();
  for (auto mapping = first; mapping != last; ++mapping) {
    if (physical_[mapping->second.handle].file >= 0) {
      region.Unshare(mapping->first, mapping->second.bytes);
    } else {
      region.Clear(mapping->first, mapping->second.bytes);
    }
    Drop(mapping->second.handle);
  }
  mappings_.erase(first, last);
  return kSuccess;
}

int VirtualMemory::Export(PhysicalHandle handle, int* file) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = physical_.find(handle);
  if (found == physical_.end()) return kInvalidValue;
  Physical& physical = found->second;
  if (physical.file < 0) {
    const FileEnd end = {kFileMark, physical.bytes, PhysicalNumber(physical.device)};
    const int made = NamelessFile(physical.bytes + sizeof(end));
    if (made < 0) return kOutOfMemory;
    if (pwrite(made, &end, sizeof(end), static_cast<off_t>(physical.bytes)) !=
        static_cast<ssize_t>(sizeof(end))) {
      close(made);
      return kOutOfMemory;
    }
    physical.file = made;
    for (const auto& [address, mapping] : mappings_) {
      if (mapping.handle == handle)
        DeviceNumber(DeviceOf(address)).region().Share(address, mapping.bytes, made, /*keep=*/true);
    }
  }
  *file = fcntl(physical.file, F_DUPFD_CLOEXEC, 0);
  return *file >= 0 ? kSuccess : kOutOfMemory;
}

int VirtualMemory::Import(int file, PhysicalHandle* handle) {
  struct stat info {};
  FileEnd end = {};
  if (fstat(file, &info) != 0 || info.st_size < static_cast<off_t>(sizeof(end))) return kInvalidValue;
  const auto bytes = static_cast<uint64_t>(info.st_size) - sizeof(end);
  if (pread(file, &end, sizeof(end), static_cast<off_t>(bytes)) != static_cast<ssize_t>(sizeof(end)))
    return kInvalidValue;
  if (end.mark != kFileMark || end.bytes != bytes || !IsWhole(bytes)) return kInvalidValue;
  const int device = VisibleNumber(static_cast<int>(end.device));
  if (device < 0) return kInvalidDevice;
  const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return kOutOfMemory;
  const std::lock_guard<std::mutex> lock(mutex_);
  *handle = next_++;
  physical_[*handle] = {device, bytes, nullptr, 1, own};
  return kSuccess;
}

int VirtualMemory::DeviceOfHandle(PhysicalHandle handle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = physical_.find(handle);
  return found == physical_.end() ? -1 : found->second.device;
}

bool VirtualMemory::FindReservation(uint64_t address, uint64_t* begin, uint64_t* bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = Containing(reservations_, address);
  if (found == reservations_.end()) return false;
  *begin = found->first;
  *bytes = found->second.bytes;
  return true;
}

VirtualMemory& TheVirtualMemory() {
  static VirtualMemory* const memory = new VirtualMemory;
  return *memory;
}

}  // namespace vramscope::simulated
