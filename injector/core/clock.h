// SPDX-License-Identifier: Apache-2.0
// The time of a record, in ticks of the clock in RingFileHeader::clock.
//
// Why the time stamp counter: it costs 9 ns where clock_gettime costs 19, in a record whose other stores cost
// 2. It is used only if the processor guarantees a constant rate in all power states, and the kernel has not
// found the sockets' counters out of step.
#pragma once

#include <time.h>

#include <cstdint>

#include "trace_format/ring.h"

namespace vramscope::injector {

// Set once by ChooseClock before the first record. All processes of a machine choose the same.
extern trace::ClockKind clock_kind;

// `forced_monotonic`: use CLOCK_MONOTONIC even where the counter would do (option clock=monotonic).
void ChooseClock(bool forced_monotonic);

inline uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// The current time, never later than the program's next action: later stores leave the core only after the
// counter was read. Use it for frees.
inline uint64_t Ticks() {
#if defined(__x86_64__)
  if (__builtin_expect(clock_kind == trace::ClockKind::kTsc, 1)) return __builtin_ia32_rdtsc();
#endif
  return MonotonicNs();
}

// Like Ticks, but also never earlier than the program's previous action; Ticks may be early by the length of
// the out-of-order window. Use it for allocations: if one thread frees a block and another gets it, the
// allocation must not seem to precede the free. Costs 6 ns more than Ticks.
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
