// SPDX-License-Identifier: Apache-2.0
// Detects whether other threads of this process are still working.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

namespace vramscope::simulated {

// Returns the calling thread's id. Replaces gettid(), which needs glibc 2.30.
pid_t OwnThread();

// True if another thread is running, is ready to run, or waits for a disk. False if all other threads sleep.
// The calling thread and the threads in `except` are ignored. True if /proc cannot be read. Takes about 5 us
// per thread.
bool AnotherThreadRuns(std::span<const pid_t> except);

// Returns the CPU time that all threads of this process except the calling thread have used.
uint64_t CpuNanosecondsOfOtherThreads();

}  // namespace vramscope::simulated
