// SPDX-License-Identifier: Apache-2.0
// One call of a CUDA driver function by the program: whether the call is recorded, which library made it, and
// what it returned.
//
// The driver and the recorder also call the hooked functions. Only a thread's outermost call comes from the
// program, so only that call is recorded.
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
  kOff,        // this process is not recorded, or VRAMSCOPE_NO_DRIVER_HOOKS is set
  kOn,
};
extern std::atomic<DriverHooks> driver_hooks;
// Sets driver_hooks. The library's constructor calls this once.
void DecideDriverHooks();
bool DriverHooksAreForbidden();  // true if VRAMSCOPE_NO_DRIVER_HOOKS is set
// Forgets which functions are proven. Each function's next call proves it again, by a coverage record.
void ForgetDriverNames();

// Returns the driver's function, which our function calls. Searches the loaded objects if the program did not
// look the function up through our hooks. Returns nullptr if no object defines it.
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
  // Interned name of the function; 0 if it could not be interned. A function's first api() call records that
  // its hook works.
  uint32_t api() const;
  // Interned name of the library that made the call; 0 if unknown.
  [[nodiscard]] uint32_t library() const { return CallingLibrary(site_); }

  int result = driver::kSuccess;
  uint64_t note[2] = {};  // values that Before() stores for After() (driver_events.h)

 private:
  static bool IsWanted();

  static constinit thread_local uint32_t depth_ __attribute__((tls_model("initial-exec")));
  DriverFunction function_;
  CallSite site_;
  bool recorded_;
};

}  // namespace vramscope::injector
