// SPDX-License-Identifier: Apache-2.0
// A Script that also writes driver events, as the hooks of driver functions do.
//
//   DriverScript s;
//   s.Context(300 << 20).Take("libc10_cuda.so", 0x7f0000000000, 20 << 20).Total(320 << 20);
//   s.Block("weight", 0x7f0000000000, 512, 20 << 20);
#pragma once

#include <map>
#include <string>

#include "profiler/model/testing/script.h"

namespace vramscope::model::testing {

inline constexpr uint64_t kMiB = 1 << 20;

class DriverScript : public Script {
 public:
  DriverScript& Process(uint32_t pid) { return Script::Process(pid), *this; }
  // Adds a process with this end time and parent. Call before Process(pid).
  DriverScript& EndingProcess(uint32_t pid, uint64_t end_ns, uint32_t parent_pid = 1);
  DriverScript& At(uint64_t time_ns) { return Script::At(time_ns), *this; }
  // Sets the device of the following calls. The first device is cuda:0.
  DriverScript& OnDevice(uint64_t code) { return driver_device_ = code, *this; }

  DriverScript& Take(const std::string& library, uint64_t address, uint64_t size,
                     trace::DriverMemory kind = trace::DriverMemory::kDevice, uint64_t result = 0,
                     uint64_t pool = 0);
  DriverScript& GiveBack(uint64_t address, trace::DriverMemory kind = trace::DriverMemory::kDevice,
                         uint64_t result = 0, uint64_t size = 0);
  DriverScript& Map(uint64_t address, uint64_t size, uint64_t handle, uint64_t result = 0);
  DriverScript& Unmap(uint64_t address, uint64_t size);
  DriverScript& Context(uint64_t size) {
    return Take("libc10_cuda.so", 0xc0de, size, trace::DriverMemory::kContext);
  }
  // Adds a result of cuMemGetInfo. `used`: bytes used by all processes.
  DriverScript& Total(uint64_t used, uint64_t capacity = uint64_t{80} << 30);
  DriverScript& Pool(uint64_t pool, uint64_t reserved, uint64_t used);
  DriverScript& OtherProcess(uint32_t pid, uint64_t used);
  // Allocates a block of the caching allocator at this address.
  DriverScript& Block(const std::string& name, uint64_t address, uint64_t size, uint64_t reserved = 0);
  DriverScript& Unblock(const std::string& name);

 private:
  DriverScript& Say(trace::EventType type, const std::vector<uint64_t>& fields) {
    return Event(type, fields), *this;
  }

  uint64_t driver_device_ = kCuda0;
  std::map<std::string, uint64_t> addresses_;
};

}  // namespace vramscope::model::testing
