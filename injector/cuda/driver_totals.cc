// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/driver_totals.h"

#include <time.h>

#include <atomic>

#include "injector/core/thread_ring.h"
#include "injector/cuda/driver_questions.h"
#include "trace_format/event.h"

namespace vramscope::injector {
namespace {

constexpr uint64_t kBetweenSamplesNs = 10'000'000;
constexpr size_t kMostPools = 256;
constexpr int kMostDevices = 64;

struct Pool {
  std::atomic<driver::Handle> handle;
  std::atomic<int> device_plus_one;         // 0 = not known
  std::atomic<uint64_t> reserved_plus_one;  // as recorded last; 0 = never
};
constinit Pool pools[kMostPools] = {};
constinit std::atomic<uint64_t> graphs_reserved_plus_one[kMostDevices] = {};
constinit std::atomic<bool> any_allocation_node = false;
constinit std::atomic<uint64_t> last_sample_ns = 0;

// nullptr if there are too many pools; their totals are then recorded each time.
Pool* Find(driver::Handle handle) {
  for (Pool& pool : pools) {
    driver::Handle holder = pool.handle.load(std::memory_order_relaxed);
    if (holder == nullptr && pool.handle.compare_exchange_strong(holder, handle)) return &pool;
    if (holder == handle) return &pool;
  }
  return nullptr;
}

void RecordTotal(uint64_t device, trace::DriverTotalSource source, uint64_t used, uint64_t total,
                 uint64_t id) {
  RecordAfterAll(trace::EventType::kDriverTotal, static_cast<uint16_t>(device), 0,
                 static_cast<uint64_t>(source), used, total, id);
}

// Accurate to a few milliseconds; costs a few nanoseconds.
uint64_t CoarseNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

bool Changes(std::atomic<uint64_t>& known_plus_one, uint64_t value) {
  return known_plus_one.exchange(value + 1, std::memory_order_relaxed) != value + 1;
}

}  // namespace

void NotePoolDevice(driver::Handle handle, int device) {
  Pool* const pool = Find(handle);
  if (pool == nullptr) return;
  pool->device_plus_one.store(device + 1, std::memory_order_relaxed);
}

uint64_t DeviceCodeOfPool(driver::Handle handle) {
  const Pool* const pool = handle == nullptr ? nullptr : Find(handle);
  const int known = pool == nullptr ? 0 : pool->device_plus_one.load(std::memory_order_relaxed);
  return known == 0 ? CurrentDeviceCode() : CodeOfDevice(known - 1);
}

void RecordPoolTotal(driver::Handle handle) {
  uint64_t reserved = 0, used = 0;
  if (handle == nullptr || !PoolAttribute(handle, kPoolReserved, &reserved)) return;
  Pool* const pool = Find(handle);
  if (pool != nullptr && !Changes(pool->reserved_plus_one, reserved)) return;
  PoolAttribute(handle, kPoolUsed, &used);
  RecordTotal(DeviceCodeOfPool(handle), trace::DriverTotalSource::kPool, reserved, used,
              reinterpret_cast<uint64_t>(handle));
}

void NoteAllocationNode() { any_allocation_node.store(true, std::memory_order_relaxed); }
bool AnyAllocationNode() { return any_allocation_node.load(std::memory_order_relaxed); }

void RecordGraphTotal(int device) {
  uint64_t reserved = 0, used = 0;
  if (device < 0 || device >= kMostDevices || !GraphAttribute(device, kGraphsReserved, &reserved)) return;
  if (!Changes(graphs_reserved_plus_one[device], reserved)) return;
  GraphAttribute(device, kGraphsUsed, &used);
  RecordTotal(CodeOfDevice(device), trace::DriverTotalSource::kGraphs, reserved, used, 0);
}

void RecordDeviceTotal(uint64_t device, uint64_t used, uint64_t total) {
  RecordTotal(device, trace::DriverTotalSource::kMemGetInfo, used, total, 0);
}

void RecordDeviceTotalSometimes() {
  uint64_t last = last_sample_ns.load(std::memory_order_relaxed);
  const uint64_t now = CoarseNs();
  if (now - last < kBetweenSamplesNs || !last_sample_ns.compare_exchange_strong(last, now)) return;
  uint64_t used = 0, total = 0;
  if (MemoryInUse(&used, &total)) RecordDeviceTotal(CurrentDeviceCode(), used, total);
}

}  // namespace vramscope::injector
