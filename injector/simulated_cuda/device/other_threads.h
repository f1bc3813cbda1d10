// SPDX-License-Identifier: Apache-2.0
// Whether the other threads of this process have come to rest.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

namespace vramscope::simulated {

// True if a thread other than the calling one and those in `except` runs, waits for a core, or waits for a
// disk. False if all others sleep: for a lock, a timer, or another thread. True if /proc cannot be read.
// About 5 us for each thread.
bool AnotherThreadRuns(std::span<const pid_t> except);

// CPU time that the process has taken, without that of the calling thread.
uint64_t CpuNanosecondsOfOtherThreads();

}  // namespace vramscope::simulated
