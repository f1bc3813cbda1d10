// SPDX-License-Identifier: Apache-2.0
// Loads a library into a running process and calls one function of it, with ptrace.
//
//   our process                             target: one thread stops for about 2 ms, the others keep running
//   ─────────────────────────────────────────────────────────────────────────────────────────────────
//   CheckTarget (refusal.h)                 untouched
//   breakpoints on malloc, thread by thread 0.1 ms each
//   first thread to arrive ──────────────►  stopped at the entry of malloc (safe_point.h)
//   save registers, vector state, mask
//   dlopen(library) ─────────────────────►  runs below its own stack, returns to address 0: SIGSEGV tells us
//   entry(argument) ─────────────────────►  copies the argument, starts a thread of its own, returns
//   restore all, detach ─────────────────►  malloc begins, as if nothing had happened
//
// Slow work belongs on the thread that `entry` starts. The injection runs in its own process
// (separate_process.h).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "trace_format/result.h"

namespace vramscope::attach {

struct Injection {
  std::string library;   // its path as the target sees it
  std::string entry;     // exported function: int entry(const char* argument)
  std::string argument;  // `library` and `argument` together: at most kMostTextBytes
  std::chrono::milliseconds patience = std::chrono::seconds(10);  // for a safe point
  const std::atomic<bool>* canceled = nullptr;                    // true: give up, unless a call has begun
};
inline constexpr size_t kMostTextBytes = 12 << 10;

struct Injected {
  int32_t result = 0;       // what `entry` returned
  uint64_t stopped_ns = 0;  // how long the stopped thread stood still
  uint32_t watched = 0;     // threads that were given breakpoints
};

// Returns when the target's threads are restored. On an error, the target is unchanged. If the caller is
// killed, the target is restored some milliseconds later. Call CheckTarget first. Forks; the caller may have
// threads.
Result<Injected> Inject(pid_t pid, const Injection& injection);

}  // namespace vramscope::attach
