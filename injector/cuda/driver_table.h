// SPDX-License-Identifier: Apache-2.0
// The table of driver_functions.def at run time: finds a function by its symbol or by cuGetProcAddress's
// arguments.
//
// Callable inside dlsym: no locks, no allocation, no CUDA. Only whole names match.
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

// Newest CUDA release that the table was compared with.
inline constexpr int kNewestKnownCuda = 13050;

// kCount if there is none.
DriverFunction FindBySymbol(const char* symbol);
// The form for this name, version and flags of cuGetProcAddress; kCount if there is none.
DriverFunction FindByBase(const char* base, int cuda_version, uint64_t flags);

// The real functions, by DriverFunction. Set at look-up, or at the first call.
extern std::atomic<void*> real_driver[kDriverFunctions];

// Returns our function, which then calls `real`. Returns `real` itself if ours already calls another
// library's function (of two drivers, the first is recorded).
void* StandInFor(DriverFunction function, void* real);

// Look-ups of the table's functions.
struct DriverLookups {
  std::atomic<uint64_t> by_dlsym, by_driver, refused;
};
extern DriverLookups driver_lookups;

}  // namespace vramscope::injector
