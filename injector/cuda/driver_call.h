// SPDX-License-Identifier: Apache-2.0
// One driver call of the program: whether it is recorded, who made it, and how it ended.
//
// Calls by the driver and the recorder come through here too. Only a thread's outermost call is the
// program's.
#pragma once

#include <atomic>
#include <cstdint>

#include "injector/core/session.h"
#include "injector/core/thread_ring.h"
#include "injector/cuda/caller.h"
#include "injector/cuda/driver_abi.h"
#include "injector/cuda/driver_table.h"

namespace vramscope::injector {

enum class DriverHooks : uint8_t {
  kUndecided,  // the library's constructor has not run
  kOff,        // not recorded, or VRAMSCOPE_NO_DRIVER_HOOKS
  kOn,
};
extern std::atomic<DriverHooks> driver_hooks;
// Called once, by the library's constructor.
void DecideDriverHooks();
bool DriverHooksAreForbidden();  // by the environment
// After this, each function is proven again at its next call.
void ForgetDriverNames();

// The real function that ours calls. Searches the loaded objects if it was not looked up through us. nullptr
// if no object defines it.
void* FindRealDriver(DriverFunction function);
inline void* RealDriver(DriverFunction function) {
  void* const real = real_driver[static_cast<size_t>(function)].load(std::memory_order_acquire);
  return __builtin_expect(real != nullptr, 1) ? real : FindRealDriver(function);
}

class DriverCall {
 public:
  DriverCall(DriverFunction function, const CallSite& site)
      : function_(function), site_(site), recorded_(depth_++ == 0 && IsWanted()) {}
  ~DriverCall() { --depth_; }
  DriverCall(const DriverCall&) = delete;
  DriverCall& operator=(const DriverCall&) = delete;

  [[nodiscard]] bool is_recorded() const { return recorded_; }
  [[nodiscard]] DriverFunction function() const { return function_; }
  [[nodiscard]] const void* caller() const { return site_.return_address; }
  // String ids; 0 = none. The first api() of a function records that its hook works.
  uint32_t api() const;
  [[nodiscard]] uint32_t library() const { return CallingLibrary(site_); }

  int result = driver::kSuccess;
  uint64_t note[2] = {};  // values that Before saves for After

 private:
  static bool IsWanted();

  static constinit thread_local uint32_t depth_ __attribute__((tls_model("initial-exec")));
  DriverFunction function_;
  CallSite site_;
  bool recorded_;
};

}  // namespace vramscope::injector
