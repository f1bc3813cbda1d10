// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/testing/driver_script.h"

namespace vramscope::model::testing {

using trace::DriverMemory;
using trace::DriverTotalSource;
using trace::EventType;

DriverScript& DriverScript::EndingProcess(uint32_t pid, uint64_t end_ns, uint32_t parent_pid) {
  Script::Process(pid, parent_pid, end_ns);
  return *this;
}

DriverScript& DriverScript::Take(const std::string& library, uint64_t address, uint64_t size,
                                 DriverMemory kind, uint64_t result, uint64_t pool) {
  return Say(EventType::kDriverAlloc, {address, size, driver_device_, 0, trace().Intern("cuMem..."),
                                       trace().Intern(library), trace::DriverFlags(kind, pool), result});
}

DriverScript& DriverScript::GiveBack(uint64_t address, DriverMemory kind, uint64_t result, uint64_t size) {
  return Say(EventType::kDriverFree,
             {address, size, driver_device_, 0, 0, result, trace::DriverFlags(kind, 0)});
}

DriverScript& DriverScript::Map(uint64_t address, uint64_t size, uint64_t handle, uint64_t result) {
  return Say(EventType::kDriverMap,
             {address, size, driver_device_, 1, handle, result, trace().Intern("libc10_cuda.so")});
}

DriverScript& DriverScript::Unmap(uint64_t address, uint64_t size) {
  return Say(EventType::kDriverMap, {address, size, driver_device_, 0, 0, 0, 0});
}

DriverScript& DriverScript::Total(uint64_t used, uint64_t capacity) {
  return Say(EventType::kDriverTotal,
             {driver_device_, static_cast<uint64_t>(DriverTotalSource::kMemGetInfo), used, capacity, 0});
}

DriverScript& DriverScript::Pool(uint64_t pool, uint64_t reserved, uint64_t used) {
  return Say(EventType::kDriverTotal,
             {driver_device_, static_cast<uint64_t>(DriverTotalSource::kPool), reserved, used, pool});
}

DriverScript& DriverScript::OtherProcess(uint32_t pid, uint64_t used) {
  return Say(EventType::kDriverTotal,
             {driver_device_, static_cast<uint64_t>(DriverTotalSource::kProcess), used, 0, pid});
}

DriverScript& DriverScript::Block(const std::string& name, uint64_t address, uint64_t size,
                                  uint64_t reserved) {
  addresses_[name] = address;
  return Say(EventType::kAlloc, {address, size, driver_device_, 0, 0, 0, 0, reserved});
}

DriverScript& DriverScript::Unblock(const std::string& name) {
  return Say(EventType::kFree, {addresses_.at(name), 0, driver_device_, 0, 0, 0});
}

}  // namespace vramscope::model::testing
