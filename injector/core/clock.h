// SPDX-License-Identifier: Apache-2.0
// Reads the time for a record, in ticks of the clock that RingFileHeader::clock names.
//
// Reading the CPU's time stamp counter takes 9 ns, and clock_gettime takes 19 ns. The counter is used only if
// its rate is constant in all power states and the kernel has found the counters of all CPU sockets
// synchronized.
#pragma once

#include <time.h>

#include <cstdint>

#include "trace_format/ring.h"

namespace vramscope::injector {

// ChooseClock sets this once, before the first record. All processes of a machine choose the same clock.
extern trace::ClockKind clock_kind;

// Sets clock_kind. If `forced_monotonic` (option clock=monotonic), the clock is always CLOCK_MONOTONIC.
void ChooseClock(bool forced_monotonic);

inline uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Returns the current time in ticks. The CPU may read the counter before the program's previous action has
// completed, but never after the program's next action. Use this function for frees.
inline uint64_t Ticks() {
#if defined(__x86_64__)
  if (__builtin_expect(clock_kind == trace::ClockKind::kTsc, 1)) return __builtin_ia32_rdtsc();
#endif
  return MonotonicNs();
}

// Like Ticks, but the CPU reads the counter only after the program's previous action has completed. Use this
// function for allocations, so that a free in one thread is never later than another thread's allocation of
// the same address. Takes 6 ns more than Ticks.
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
