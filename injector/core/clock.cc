// SPDX-License-Identifier: Apache-2.0
#include "injector/core/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "injector/core/hot.h"

namespace vramscope::injector {

VRAMSCOPE_HOT constinit trace::ClockKind clock_kind = trace::ClockKind::kMonotonic;

namespace {

bool CounterIsInvariant() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
#else
  return false;
#endif
}

// The kernel removes "tsc" from this list when it finds the counters of several sockets out of step. If there
// is no such file (sandboxes), the counter is trusted.
bool KernelTrustsCounter() {
  const int file =
      open("/sys/devices/system/clocksource/clocksource0/available_clocksource", O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  char text[256];
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return true;
  text[length] = 0;
  return strstr(text, "tsc") != nullptr;
}

}  // namespace

void ChooseClock(bool forced_monotonic) {
  const bool counter = !forced_monotonic && CounterIsInvariant() && KernelTrustsCounter();
  clock_kind = counter ? trace::ClockKind::kTsc : trace::ClockKind::kMonotonic;
}

}  // namespace vramscope::injector
