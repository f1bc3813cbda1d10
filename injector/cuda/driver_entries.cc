// SPDX-License-Identifier: Apache-2.0
// The code that runs instead of each driver function: the event's Before, the driver's function, the event's
// After (driver_events.h).
#include "injector/cuda/driver_entries.h"

#include "injector/cuda/driver_call.h"
#include "injector/cuda/driver_events.h"

namespace vramscope::injector::driver {
namespace {

template <typename Event, DriverFunction function, typename... Parameters>
inline int Through(const CallSite& site, Parameters... parameters) {
  void* const found = RealDriver(function);
  if (__builtin_expect(found == nullptr, 0)) return kSymbolNotFound;
  auto* const real = reinterpret_cast<int (*)(Parameters...)>(found);
  if constexpr (requires { Event::IsUsual(parameters...); }) {
    if (__builtin_expect(Event::IsUsual(parameters...), 1)) return real(parameters...);
  }
  DriverCall call(function, site);
  if (!call.is_recorded()) return real(parameters...);
  Event::Before(call, parameters...);
  call.result = real(parameters...);
  Event::After(call, parameters...);
  return call.result;
}

}  // namespace

#define VRAMSCOPE_UNPACK(...) __VA_ARGS__
#define DRIVER_FUNCTION(symbol, base, since, stream, event, parameters, arguments)                      \
  extern "C" int symbol parameters {                                                                    \
    return Through<event, DriverFunction::symbol>({__builtin_return_address(0), __builtin_dwarf_cfa()}, \
                                                  VRAMSCOPE_UNPACK arguments);                          \
  }
#include "injector/cuda/driver_functions.def"
#undef DRIVER_FUNCTION

}  // namespace vramscope::injector::driver
