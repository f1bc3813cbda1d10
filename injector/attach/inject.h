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
// Slow work belongs on the thread that `entry` starts. The injection runs in a process of its own
// (separate_process.h), so that the target is restored even if the command is killed.
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
  const std::atomic<bool>* canceled = nullptr;  // set to true: give up, unless a call has begun
};
inline constexpr size_t kMostTextBytes = 12 << 10;

struct Injected {
  int32_t result = 0;       // what `entry` returned
  uint64_t stopped_ns = 0;  // how long the stopped thread stood still
  uint32_t watched = 0;     // threads that were given breakpoints
};

// Returns when the target's threads are restored. On an error nothing was changed in the target. If the
// calling process is killed during the call, the target is still restored, a few milliseconds later. Call
// CheckTarget first. This function forks: if the caller has threads, the child uses only malloc and system
// calls.
Result<Injected> Inject(pid_t pid, const Injection& injection);

}  // namespace vramscope::attach
