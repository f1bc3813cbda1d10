// SPDX-License-Identifier: Apache-2.0
// The time of a record, in ticks of the clock in RingFileHeader::clock.
//
// The time stamp counter costs 9 ns, clock_gettime 19. The counter is used only if its rate is constant in
// all power states. The kernel must also find the sockets' counters in step.
#pragma once

#include <time.h>

#include <cstdint>

#include "trace_format/ring.h"

namespace vramscope::injector {

// Set once by ChooseClock before the first record. All processes of a machine choose the same clock.
extern trace::ClockKind clock_kind;

// `forced_monotonic`: always CLOCK_MONOTONIC (option clock=monotonic).
void ChooseClock(bool forced_monotonic);

inline uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// The current time, never later than the program's next action. Use it for frees.
inline uint64_t Ticks() {
#if defined(__x86_64__)
  if (__builtin_expect(clock_kind == trace::ClockKind::kTsc, 1)) return __builtin_ia32_rdtsc();
#endif
  return MonotonicNs();
}

// Like Ticks, and never earlier than the program's previous action. Use it for allocations: a free in one
// thread must precede the allocation in another. Costs 6 ns more than Ticks.
inline uint64_t TicksAfterAll() {
#if defined(__x86_64__)
  if (__builtin_expect(clock_kind == trace::ClockKind::kTsc, 1)) {
    __builtin_ia32_lfence();
    return __builtin_ia32_rdtsc();
  }
#endif
  return MonotonicNs();
}

}  // namespace vramscope::injector
