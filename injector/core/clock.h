// SPDX-License-Identifier: Apache-2.0
// The time of a record, in the ticks that RingFileHeader::clock names.
//
// Why the time stamp counter: it costs 9 ns where clock_gettime costs 19, in a record whose other stores
// cost 2. It is used only when the processor promises one rate through all power states and the kernel has
// not found the sockets' counters out of step.
#pragma once

#include <time.h>

#include <cstdint>

#include "trace_format/ring.h"

namespace vramscope::injector {

// Set once by ChooseClock before the first record; the same in every process of a machine.
extern trace::ClockKind clock_kind;

// `forced_monotonic`: use CLOCK_MONOTONIC also where the counter would do (option clock=monotonic).
void ChooseClock(bool forced_monotonic);

inline uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Never later than what the program does next: the stores that follow leave the core only after the counter
// was read. Right for frees.
inline uint64_t Ticks() {
#if defined(__x86_64__)
  if (__builtin_expect(clock_kind == trace::ClockKind::kTsc, 1)) return __builtin_ia32_rdtsc();
#endif
  return MonotonicNs();
}

// Also never earlier than what the program did before, which Ticks may be by the length of the out-of-order
// window. Right for allocations: a block that was freed by one thread and is handed to another must never
// seem to be allocated before it was freed. 6 ns more.
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
