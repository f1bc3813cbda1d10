// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/activity.h"

#include <sys/mman.h>

#include <atomic>

#include "injector/core/driver_sight.h"
#include "injector/core/intern.h"
#include "injector/core/thread_ring.h"
#include "trace_format/event.h"

namespace vramscope::injector::cupti {
namespace {

constexpr size_t kBufferBytes = 256 << 10;  // a thousand records
constexpr uint32_t kFlushMs = 1000;
constexpr uint8_t kCuda = 1;  // c10::DeviceType

constinit std::atomic<const Functions*> running = nullptr;
// Live device memory according to the activity records. Records of one buffer are in order; records of two
// buffers need not be.
constinit std::atomic<int64_t> live_bytes = 0;

void Requested(uint8_t** buffer, size_t* size, size_t* most_records) {
  void* const memory =
      mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *buffer = memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
  *size = memory == MAP_FAILED ? 0 : kBufferBytes;
  *most_records = 0;  // as many as fit
}

void Completed(Context, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  const Functions* const cupti = running.load(std::memory_order_acquire);
  if (cupti != nullptr && valid > 0) ReadRecords(*cupti, buffer, valid);
  if (buffer != nullptr) munmap(buffer, kBufferBytes);
}

void Count(const MemoryRecord& record) {
  if (record.memory_kind != kDevice && record.memory_kind != kManaged) return;
  const auto bytes = static_cast<int64_t>(record.bytes);
  if (record.operation == kAllocated) {
    seen_by_activity.CountAllocation(record.bytes);
    live_bytes.fetch_add(bytes, std::memory_order_relaxed);
  } else if (record.operation == kReleased) {
    seen_by_activity.frees.fetch_add(1, std::memory_order_relaxed);
    live_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  }
}

// No hook can see a call for code globals: they are reported only here.
void RecordStatic(const MemoryRecord& record) {
  if (record.memory_kind != kDeviceStatic && record.memory_kind != kManagedStatic) return;
  const uint64_t device = trace::DeviceCode(kCuda, static_cast<uint8_t>(record.device));
  const uint64_t flags = trace::DriverFlags(trace::DriverMemory::kModule, 0);
  const uint32_t api = InternString("module global (CUPTI)");
  if (record.operation == kAllocated) {
    Record(trace::EventType::kDriverAlloc, 0, api, record.address, record.bytes, device, 0, 0, flags);
  } else {
    Record(trace::EventType::kDriverFree, 0, api, record.address, record.bytes, device, 0, flags);
  }
}

void ReadPool(const PoolRecord& record) {
  if (record.operation == kPoolDestroyed) return;
  const uint64_t device = trace::DeviceCode(kCuda, static_cast<uint8_t>(record.device));
  Record(trace::EventType::kCounter, static_cast<uint16_t>(device),
         InternString("CUPTI: bytes kept by a memory pool"), record.size);
}

}  // namespace

void ReadRecords(const Functions& cupti, uint8_t* buffer, size_t valid) {
  void* record = nullptr;
  while (cupti.next_record(buffer, valid, &record) == kSuccess && record != nullptr) {
    const int kind = *static_cast<const int*>(record);
    if (kind == kMemoryActivity) {
      Count(*static_cast<const MemoryRecord*>(record));
      RecordStatic(*static_cast<const MemoryRecord*>(record));
    } else if (kind == kPoolActivity) {
      ReadPool(*static_cast<const PoolRecord*>(record));
    }
  }
  const int64_t live = live_bytes.load(std::memory_order_relaxed);
  Record(trace::EventType::kCounter, static_cast<uint16_t>(trace::DeviceCode(kCuda, 0xff)),
         InternString("CUPTI: device memory alive"), live < 0 ? 0 : live);
}

bool StartActivity(const Functions& cupti) {
  running.store(&cupti, std::memory_order_release);
  if (cupti.register_callbacks(Requested, Completed) != kSuccess) return false;
  if (cupti.activity_enable(kMemoryActivity) != kSuccess) return false;
  cupti.activity_enable(kPoolActivity);
  if (cupti.flush_period != nullptr) cupti.flush_period(kFlushMs);
  return true;
}

void StopActivity(const Functions& cupti) {
  cupti.activity_disable(kMemoryActivity);
  cupti.activity_disable(kPoolActivity);
  cupti.flush_all(kFlushForced);
}

}  // namespace vramscope::injector::cupti
