// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/shared_use.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

#include "injector/simulated_cuda/device/process_identity.h"
#include "injector/simulated_cuda/device/settings.h"

namespace vramscope::simulated {
namespace {

constexpr int kAnyDevice = -1;
constexpr trace::SharingProcess kNobody = {0, 0};

static_assert(kMaxDevices == trace::kMostSharedDevices);

trace::DeviceUseTable* Map(const char* file) {
  constexpr size_t kBytes = sizeof(trace::DeviceUseTable);
  const int descriptor = file != nullptr ? open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
  if (descriptor < 0) return nullptr;
  const bool sized = ftruncate(descriptor, kBytes) == 0;  // every process sets this size: contents stay
  void* const memory =
      sized ? mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  close(descriptor);
  return memory != MAP_FAILED ? static_cast<trace::DeviceUseTable*>(memory) : nullptr;
}

uint64_t AsNumber(const trace::SharingProcess& process) {
  return uint64_t{process.pid} << 32 | process.started;
}

}  // namespace

class SharedUse::Lock {
 public:
  explicit Lock(std::atomic<uint64_t>& word) : word_(word) {
    const uint64_t own = AsNumber(ThisProcess());
    for (unsigned tries = 1;; ++tries) {
      uint64_t holder = 0;
      if (word_.compare_exchange_weak(holder, own, std::memory_order_acquire)) return;
      if (tries % kTriesBeforeDoubt != 0) {
        sched_yield();
      } else if (holder != 0 &&
                 !IsAlive({static_cast<uint32_t>(holder >> 32), static_cast<uint32_t>(holder)})) {
        if (word_.compare_exchange_strong(holder, own, std::memory_order_acquire)) return;
      } else {
        const timespec pause = {0, 50'000};
        nanosleep(&pause, nullptr);
      }
    }
  }
  ~Lock() { word_.store(0, std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  static constexpr unsigned kTriesBeforeDoubt = 100;  // the lock is held for about a microsecond
  std::atomic<uint64_t>& word_;
};

SharedUse::SharedUse(const char* file) : table_(Map(file)), mapped_(table_ != nullptr) {
  if (!mapped_) table_ = new trace::DeviceUseTable();
}

SharedUse::~SharedUse() {
  if (mapped_)
    munmap(table_, sizeof(*table_));
  else
    delete table_;
}

trace::ProcessUse* SharedUse::OwnEntry() {
  const trace::SharingProcess self = ThisProcess();
  if (own_ != nullptr && own_->process == self) return own_;
  for (int round = 0; round < 2; ++round) {
    trace::ProcessUse* unused = nullptr;
    for (trace::ProcessUse& entry : table_->processes) {
      // Already its own: the process replaced itself by exec, and what it had taken before is gone.
      const bool own = entry.process == self;
      if (own || (unused == nullptr && entry.process == kNobody)) unused = &entry;
      if (own) break;
    }
    if (unused != nullptr) {
      *unused = {self, {}};
      const auto used = static_cast<uint32_t>(unused - table_->processes) + 1;
      if (used > table_->process_count) table_->process_count = used;
      return own_ = unused;
    }
    RemoveDead(kAnyDevice);
  }
  return nullptr;
}

uint64_t SharedUse::Sum(int device) const {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < table_->process_count; ++i) bytes += table_->processes[i].live_bytes[device];
  return bytes;
}

void SharedUse::RemoveDead(int device) {
  for (uint32_t i = 0; i < table_->process_count; ++i) {
    trace::ProcessUse& entry = table_->processes[i];
    if (entry.process == kNobody || (device != kAnyDevice && entry.live_bytes[device] == 0)) continue;
    if (!IsAlive(entry.process)) entry = {};
  }
}

void SharedUse::NotePeak(int device, uint64_t bytes) {
  trace::DeviceUse& use = table_->devices[device];
  use.peak_bytes = bytes;
  use.share_count = 0;
  for (uint32_t i = 0; i < table_->process_count; ++i) {
    const trace::ProcessUse& entry = table_->processes[i];
    if (entry.live_bytes[device] != 0)
      use.shares[use.share_count++] = {entry.process, entry.live_bytes[device]};
  }
}

bool SharedUse::Take(int device, uint64_t bytes, uint64_t capacity, uint64_t* missing) {
  const Lock lock(table_->lock);
  trace::ProcessUse* const own = OwnEntry();
  uint64_t used = Sum(device);
  const auto left = [&] { return capacity - (used < capacity ? used : capacity); };
  if (bytes > left() || used + bytes > table_->devices[device].peak_bytes) {
    RemoveDead(device);
    used = Sum(device);
  }
  *missing = bytes > left() ? bytes - left() : 0;
  if (own == nullptr) *missing = bytes;  // more processes than there are entries
  if (*missing != 0) return false;
  own->live_bytes[device] += bytes;
  if (used + bytes > table_->devices[device].peak_bytes) NotePeak(device, used + bytes);
  return true;
}

void SharedUse::Give(int device, uint64_t bytes) {
  const Lock lock(table_->lock);
  trace::ProcessUse* const own = OwnEntry();
  if (own == nullptr) return;
  uint64_t& live = own->live_bytes[device];
  live -= bytes < live ? bytes : live;
}

uint64_t SharedUse::UsedBytes(int device) {
  const Lock lock(table_->lock);
  RemoveDead(device);
  return Sum(device);
}

size_t SharedUse::Processes(int device, trace::PeakShare* processes, size_t most) {
  const Lock lock(table_->lock);
  RemoveDead(device);
  size_t count = 0;
  for (uint32_t i = 0; i < table_->process_count && count < most; ++i) {
    const trace::ProcessUse& entry = table_->processes[i];
    if (entry.live_bytes[device] != 0) processes[count++] = {entry.process, entry.live_bytes[device]};
  }
  return count;
}

uint64_t SharedUse::PeakBytes(int device) {
  const Lock lock(table_->lock);
  return table_->devices[device].peak_bytes;
}

SharedUse& TheSharedUse() {
  static auto* const use = new SharedUse(TheSettings().shared);
  return *use;
}

}  // namespace vramscope::simulated
