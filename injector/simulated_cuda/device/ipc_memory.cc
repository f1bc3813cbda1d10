// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/ipc_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "injector/simulated_cuda/device/device.h"
#include "injector/simulated_cuda/device/process_identity.h"
#include "injector/simulated_cuda/device/ranges.h"
#include "injector/simulated_cuda/device/settings.h"

namespace vramscope::simulated {
namespace {

constexpr uint64_t kMagic = 0x6d656d2d73637276;  // "vrcs-mem"

// The content of the 64 bytes of a handle.
struct Content {
  uint64_t magic;
  trace::SharingProcess owner;
  int file;    // of the owner
  int device;  // as the machine numbers it
  uint64_t inode;
  uint64_t bytes;  // whole granules
};
static_assert(sizeof(Content) <= sizeof(IpcHandle));

uint64_t WholeGranules(uint64_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }

uint64_t InodeOf(int file) {
  struct stat info {};
  return fstat(file, &info) == 0 && S_ISREG(info.st_mode) ? info.st_ino : 0;
}

// -1 if it cannot be opened, or is another file by now.
int OpenFileOf(const Content& content) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%u/fd/%d", content.owner.pid, content.file);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file >= 0 && InodeOf(file) == content.inode) return file;
  if (file >= 0) close(file);
  return -1;
}

}  // namespace

int NamelessFile(uint64_t bytes) {
  const int file = memfd_create("vramscope-device-memory", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
  if (file >= 0) close(file);
  return -1;
}

int IpcMemory::Export(uint64_t address, IpcHandle* handle) {
  const int device = DeviceOf(address);
  if (device < 0) return kInvalidValue;
  const Allocation allocation = DeviceNumber(device).Find(address);
  if (allocation.address == 0) return kInvalidValue;
  const uint64_t bytes = WholeGranules(allocation.bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  auto found = exported_.find(allocation.address);
  if (found == exported_.end()) {
    const int file = NamelessFile(bytes);
    if (file < 0) return kOutOfMemory;
    if (!DeviceNumber(device).region().Share(allocation.address, bytes, file, /*keep=*/true)) {
      close(file);
      return kOutOfMemory;
    }
    found = exported_.emplace(allocation.address, Exported{file, bytes}).first;
  }
  const int file = found->second.file;
  const Content content = {kMagic, ThisProcess(), file, PhysicalNumber(device), InodeOf(file), bytes};
  *handle = {};
  std::memcpy(handle, &content, sizeof(content));
  return kSuccess;
}

int IpcMemory::Open(const IpcHandle& handle, uint64_t* address) {
  Content content;
  std::memcpy(&content, &handle, sizeof(content));
  if (content.magic != kMagic) return kInvalidHandle;
  if (content.owner == ThisProcess()) return kInvalidContext;
  const int device = VisibleNumber(content.device);
  if (device < 0) return kInvalidDevice;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [begin, opened] : opened_) {
    if (!(opened.owner == content.owner) || opened.inode != content.inode) continue;
    ++opened.references;
    *address = begin;
    return kSuccess;
  }
  if (!IsAlive(content.owner)) return kInvalidHandle;
  *address = DeviceNumber(device).ReserveAddresses(content.bytes, 0, 0);
  if (*address == 0) return kOutOfMemory;
  if (const int file = OpenFileOf(content); file >= 0) {
    DeviceNumber(device).region().Share(*address, content.bytes, file, /*keep=*/false);
    close(file);
  }
  opened_[*address] = {content.owner, content.inode, device, content.bytes, 1};
  return kSuccess;
}

int IpcMemory::Close(uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = opened_.find(address);
  if (found == opened_.end()) return kInvalidValue;
  const Opened opened = found->second;
  if (--found->second.references != 0) return kSuccess;
  opened_.erase(found);
  DeviceNumber(opened.device).region().Unshare(address, opened.bytes);
  DeviceNumber(opened.device).GiveAddresses(address, opened.bytes);
  return kSuccess;
}

void IpcMemory::Forget(uint64_t address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = exported_.find(address);
  if (found == exported_.end()) return;
  DeviceNumber(DeviceOf(address)).region().Unshare(address, found->second.bytes);
  close(found->second.file);
  exported_.erase(found);
}

bool IpcMemory::Find(uint64_t address, uint64_t* begin, uint64_t* bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return FindRange(opened_, address, begin, bytes);
}

IpcMemory& TheIpcMemory() {
  static auto* const memory = new IpcMemory;
  return *memory;
}

}  // namespace vramscope::simulated
