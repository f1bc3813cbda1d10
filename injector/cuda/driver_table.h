// SPDX-License-Identifier: Apache-2.0
// The table of driver_functions.def at run time: finds a function by its symbol or by cuGetProcAddress's
// arguments, and holds its real function.
//
// Everything here may be called from inside dlsym: no locks, no allocation, no CUDA. Names are compared
// whole; a function missing from the table is never guessed.
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

// The newest CUDA release whose headers the table was compared with.
inline constexpr int kNewestKnownCuda = 13050;

// Returns kCount if the table has no such symbol.
DriverFunction FindBySymbol(const char* symbol);
// The form that cuGetProcAddress returns for this name, version and flags; kCount if it is not in the table.
DriverFunction FindByBase(const char* base, int cuda_version, uint64_t flags);

// The real functions, by DriverFunction. Set when a function is looked up, or when it is first called.
extern std::atomic<void*> real_driver[kDriverFunctions];

// Returns our function to use instead of `real`, and makes ours call `real`. Returns `real` itself if ours
// already replaces a function of another library (two drivers in one process: only the first is recorded).
void* StandInFor(DriverFunction function, void* real);

// How often functions of the table were looked up, and how.
struct DriverLookups {
  std::atomic<uint64_t> by_dlsym, by_driver, refused;
};
extern DriverLookups driver_lookups;

}  // namespace vramscope::injector
