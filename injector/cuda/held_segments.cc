// SPDX-License-Identifier: Apache-2.0
// Reports segments of PyTorch's caching allocator that existed before recording began (attach), as the Python
// shim finds them. They are recorded as driver calls by libc10_cuda whose name is kHeldFrame.
//
// A segment of virtual memory lies on physical memory with unknown handles. Each of its parts gets a handle
// of its own, namely the part's address, which is mapped and then released. The part counts until it is
// unmapped, which is what PyTorch does first.
#include "injector/core/api.h"
#include "injector/core/driver_sight.h"
#include "injector/core/intern.h"
#include "injector/core/thread_ring.h"
#include "injector/cuda/driver_call.h"
#include "injector/cuda/driver_questions.h"
#include "injector/cuda/driver_totals.h"

#define VRAMSCOPE_API extern "C" __attribute__((visibility("default")))

namespace vramscope::injector {
namespace {

using trace::DriverMemory;
using trace::EventType;

constexpr char kHolder[] = "libc10_cuda.so";

class Teller {
 public:
  explicit Teller(uint32_t device)
      : device_(device), api_(InternString(trace::kHeldFrame)), library_(InternString(kHolder)) {}

  void Take(DriverMemory kind, uint64_t address, uint64_t bytes, uint64_t stream) const {
    Record(EventType::kDriverAlloc, 0, api_, address, bytes, device_, stream, library_, DriverFlags(kind, 0));
  }
  void Give(DriverMemory kind, uint64_t address) const {
    Record(EventType::kDriverFree, 0, api_, address, 0, device_, library_, DriverFlags(kind, 0));
  }
  void Map(uint64_t address, uint64_t bytes, uint64_t handle) const {
    Record(EventType::kDriverMap, 0, library_, address, bytes, device_, handle != 0 ? 1 : 0, handle);
  }

 private:
  uint64_t device_;
  uint32_t api_, library_;
};

}  // namespace
}  // namespace vramscope::injector

using namespace vramscope::injector;

VRAMSCOPE_API uint32_t vramscope_driver_seen(void) {
  return driver_hooks.load(std::memory_order_relaxed) == DriverHooks::kOn &&
                 seen_by_hooks.lookups.load(std::memory_order_relaxed) != 0
             ? 1
             : 0;
}

VRAMSCOPE_API void vramscope_held_segment(uint32_t device, uint64_t address, uint64_t bytes, uint64_t stream,
                                          uint64_t part_bytes) {
  const Teller teller(device);
  if (part_bytes == 0) return teller.Take(DriverMemory::kDevice, address, bytes, stream);
  for (uint64_t at = address; at < address + bytes; at += part_bytes) {
    teller.Take(DriverMemory::kPhysical, at, part_bytes, 0);
    teller.Map(at, part_bytes, at);
    teller.Give(DriverMemory::kPhysical, at);
  }
}

VRAMSCOPE_API void vramscope_held_segment_gone(uint32_t device, uint64_t address, uint64_t bytes,
                                               uint64_t part_bytes) {
  const Teller teller(device);
  if (part_bytes == 0) {
    teller.Give(DriverMemory::kDevice, address);
  } else {
    teller.Map(address, bytes, 0);
  }
}

VRAMSCOPE_API void vramscope_held_driver_total(void) {
  uint64_t used = 0, total = 0;
  if (MemoryInUse(&used, &total)) RecordDeviceTotal(CurrentDeviceCode(), used, total);
}
