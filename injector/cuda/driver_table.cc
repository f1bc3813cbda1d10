// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/driver_table.h"

#include <string.h>

#include "injector/core/hot.h"
#include "injector/cuda/driver_entries.h"
#include "injector/cuda/loaded_object.h"

namespace vramscope::injector {
namespace {

constexpr size_t kSlots = 512;  // several times the number of functions: few share a slot

constexpr uint32_t HashOf(const char* text) {
  uint32_t hash = 5381;
  for (; *text != 0; ++text) hash = hash * 33 + static_cast<unsigned char>(*text);
  return hash;
}

struct Index {
  uint16_t function[kSlots];
};

constexpr Index IndexOf(const char* const (&names)[kDriverFunctions]) {
  Index index = {};
  for (uint16_t& slot : index.function) slot = static_cast<uint16_t>(DriverFunction::kCount);
  for (size_t i = 0; i < kDriverFunctions; ++i) {
    size_t slot = HashOf(names[i]) % kSlots;
    while (index.function[slot] != static_cast<uint16_t>(DriverFunction::kCount)) slot = (slot + 1) % kSlots;
    index.function[slot] = static_cast<uint16_t>(i);
  }
  return index;
}

#define DRIVER_FUNCTION(symbol, base, since, stream, event, parameters, arguments) #symbol,
constexpr const char* kSymbols[kDriverFunctions] = {
#include "injector/cuda/driver_functions.def"
};
#undef DRIVER_FUNCTION
#define DRIVER_FUNCTION(symbol, base, since, stream, event, parameters, arguments) #base,
constexpr const char* kBases[kDriverFunctions] = {
#include "injector/cuda/driver_functions.def"
};
#undef DRIVER_FUNCTION
constexpr Index kBySymbol = IndexOf(kSymbols);
constexpr Index kByBase = IndexOf(kBases);

bool IsBetter(const DriverForm& form, const DriverForm& than, StreamForm wanted) {
  if (form.stream != than.stream) return form.stream == wanted;
  return form.since > than.since;
}

}  // namespace

#define DRIVER_FUNCTION(symbol, base, since, stream, event, parameters, arguments) \
  {#symbol, #base, since, StreamForm::stream, reinterpret_cast<void*>(&driver::symbol)},
const DriverForm driver_forms[kDriverFunctions] = {
#include "injector/cuda/driver_functions.def"
};
#undef DRIVER_FUNCTION

alignas(64) VRAMSCOPE_HOT constinit std::atomic<void*> real_driver[kDriverFunctions] = {};
constinit DriverLookups driver_lookups = {};

DriverFunction FindBySymbol(const char* symbol) {
  for (size_t slot = HashOf(symbol) % kSlots;; slot = (slot + 1) % kSlots) {
    const auto function = static_cast<DriverFunction>(kBySymbol.function[slot]);
    if (function == DriverFunction::kCount || strcmp(FormOf(function).symbol, symbol) == 0) return function;
  }
}

DriverFunction FindByBase(const char* base, int cuda_version, uint64_t flags) {
  const StreamForm wanted =
      (flags & driver::kPerThreadStream) != 0 ? StreamForm::kPerThread : StreamForm::kLegacy;
  DriverFunction best = DriverFunction::kCount;
  for (size_t slot = HashOf(base) % kSlots;; slot = (slot + 1) % kSlots) {
    const auto function = static_cast<DriverFunction>(kByBase.function[slot]);
    if (function == DriverFunction::kCount) return best;
    const DriverForm& form = FormOf(function);
    if (strcmp(form.base, base) != 0 || form.since > cuda_version) continue;
    // Only a few functions have a separate form for the thread's own stream. The other functions have one
    // form for both.
    if (form.stream == StreamForm::kPerThread && wanted == StreamForm::kLegacy) continue;
    if (best == DriverFunction::kCount || IsBetter(form, FormOf(best), wanted)) best = function;
  }
}

void* StandInFor(DriverFunction function, void* real) {
  std::atomic<void*>& slot = real_driver[static_cast<size_t>(function)];
  void* known = nullptr;
  if (slot.compare_exchange_strong(known, real) || known == real || SameObject(known, real))
    return FormOf(function).ours;
  driver_lookups.refused.fetch_add(1, std::memory_order_relaxed);
  return real;
}

}  // namespace vramscope::injector
