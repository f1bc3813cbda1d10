// SPDX-License-Identifier: Apache-2.0
// The table of hooked driver functions (driver_functions.def) at run time. Finds a function by its symbol, or
// by the arguments of cuGetProcAddress.
//
// These functions may be called inside dlsym: they take no locks, do not allocate and do not call CUDA. A
// name matches only if it is equal as a whole.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace vramscope::injector {

enum class DriverFunction : uint16_t {
#define DRIVER_FUNCTION(symbol, base, since, stream, event, parameters, arguments) symbol,
#include "injector/cuda/driver_functions.def"
#undef DRIVER_FUNCTION
  kCount,
};
inline constexpr size_t kDriverFunctions = static_cast<size_t>(DriverFunction::kCount);

enum class StreamForm : uint8_t { kLegacy, kPerThread };

struct DriverForm {
  const char* symbol;
  const char* base;
  int since;
  StreamForm stream;
  void* ours;
};
extern const DriverForm driver_forms[kDriverFunctions];
inline const DriverForm& FormOf(DriverFunction function) {
  return driver_forms[static_cast<size_t>(function)];
}

// The newest CUDA release that the table was compared with, as CUDA_VERSION: 13050 is CUDA 13.5.
inline constexpr int kNewestKnownCuda = 13050;

// Returns kCount if the table has no such symbol.
DriverFunction FindBySymbol(const char* symbol);
// Returns the newest form of the function that the cuGetProcAddress arguments select, or kCount if there is
// none. For example, "cuMemAlloc" may be cuMemAlloc_v2.
DriverFunction FindByBase(const char* base, int cuda_version, uint64_t flags);

// The driver's functions, indexed by DriverFunction. Each is set when the program looks it up or calls it
// first.
extern std::atomic<void*> real_driver[kDriverFunctions];

// Returns our function, which calls `real` from now on. If our function already calls the function of another
// driver library, `real` itself is returned, so the program's calls of `real` are not recorded.
void* StandInFor(DriverFunction function, void* real);

// How many look-ups of functions in this table the program has made, by kind.
struct DriverLookups {
  std::atomic<uint64_t> by_dlsym, by_driver, refused;
};
extern DriverLookups driver_lookups;

}  // namespace vramscope::injector
