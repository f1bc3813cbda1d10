// SPDX-License-Identifier: Apache-2.0
// The simulated device of the differential test. The model determines which addresses the device returns,
// when its memory is full, and when a stream's event has completed. The result depends only on the test's
// seed. The rules are those of injector/simulated_cuda/device, but the state is separate.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "injector/simulated_cuda/device/address_space.h"
#include "profiler/allocator/driver.h"

namespace vramscope::allocator {

constexpr uint64_t kGranule = uint64_t{2} << 20;
constexpr uint64_t kAddresses = uint64_t{4} << 40;

// A clock that counts kernel launches (injector/simulated_cuda/device/streams.h), with a lag of one launch.
class Clock {
 public:
  explicit Clock(size_t streams) : ends_(streams) {}

  void Launch(size_t stream) { ends_[stream] = std::max(ends_[stream], ++now_); }
  void WaitFor(uint64_t time) {
    if (time != 0) now_ = std::max(now_, time + 1);
  }
  void Synchronize(size_t stream) { WaitFor(ends_[stream]); }
  void SynchronizeAll() {
    for (const uint64_t end : ends_) WaitFor(end);
  }
  // Record() returns the time of an event that is recorded on the stream now. Passed() tells whether an event
  // with that time has completed.
  [[nodiscard]] uint64_t Record(size_t stream) const { return ends_[stream]; }
  [[nodiscard]] bool Passed(uint64_t time) const { return time == 0 || now_ >= time + 1; }

 private:
  uint64_t now_ = 0;
  std::vector<uint64_t> ends_;
};

// A driver that returns the lowest free address, in multiples of kGranule. A request fails if it would take
// more bytes than the device has.
class SimulatedDriver : public Driver {
 public:
  SimulatedDriver(uint64_t lowest_taken, uint64_t free_bytes, Clock& clock)
      : addresses_(lowest_taken + kGranule, kAddresses - kGranule, kGranule),
        free_bytes_(free_bytes),
        clock_(clock) {}

  uint64_t AllocateSegment(uint64_t bytes) override {
    const uint64_t charged = addresses_.Rounded(bytes);
    const uint64_t address = addresses_.Take(bytes);
    if (address == 0) return 0;
    if (charged > free_bytes_) {
      addresses_.Give(address, charged);
      return 0;
    }
    free_bytes_ -= charged;
    return address;
  }
  void FreeSegment(uint64_t address, uint64_t bytes) override {
    clock_.SynchronizeAll();
    addresses_.Give(address, bytes);
    free_bytes_ += addresses_.Rounded(bytes);
  }
  uint64_t ReserveAddresses(uint64_t bytes) override { return addresses_.Take(bytes); }
  void ReleaseAddresses(uint64_t address, uint64_t bytes) override { addresses_.Give(address, bytes); }
  bool MapPages(uint64_t, uint64_t bytes, uint64_t) override {
    if (bytes > free_bytes_) return false;
    free_bytes_ -= bytes;
    return true;
  }
  void UnmapPages(uint64_t, uint64_t bytes) override { free_bytes_ += bytes; }
  uint64_t FreeBytes() override { return free_bytes_; }

 private:
  simulated::AddressSpace addresses_;
  uint64_t free_bytes_;
  Clock& clock_;
};

}  // namespace vramscope::allocator
