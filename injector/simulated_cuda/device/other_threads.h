// SPDX-License-Identifier: Apache-2.0
// Whether the other threads of this process have come to rest.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

namespace vramscope::simulated {

// The kernel's number of the calling thread. gettid() of the C library needs glibc 2.30.
pid_t OwnThread();

// True if a thread other than the caller and those in `except` runs, or waits for a core or disk. False if
// all others sleep. True if /proc cannot be read. About 5 us per thread.
bool AnotherThreadRuns(std::span<const pid_t> except);

// The process's CPU time without the calling thread's.
uint64_t CpuNanosecondsOfOtherThreads();

}  // namespace vramscope::simulated
