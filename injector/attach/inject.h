// SPDX-License-Identifier: Apache-2.0
// Loads a library into a running process (the target) and calls one function of the library, with ptrace.
//
//   our process                             target: one thread stops for about 2 ms, the others keep running
//   ─────────────────────────────────────────────────────────────────────────────────────────────────
//   CheckTarget (refusal.h)                 untouched
//   set a breakpoint on malloc              each thread stops for 0.1 ms
//   first thread to arrive ──────────────►  stopped at the entry of malloc (safe_point.h)
//   save registers, vector state, mask
//   dlopen(library) ─────────────────────►  runs on the thread's stack; its return to address 0 is a SIGSEGV
//   entry(argument) ─────────────────────►  copies the argument, starts a thread of its own, returns
//   restore all, detach ─────────────────►  malloc begins, as if nothing had happened
//
// Slow work belongs on the thread that `entry` starts. The code that uses ptrace runs in a process of its own
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
  std::string library;   // path of the library, as the target sees it
  std::string entry;     // exported function: int entry(const char* argument)
  std::string argument;  // `library` and `argument` together have at most kMostTextBytes
  std::chrono::milliseconds patience = std::chrono::seconds(10);  // longest wait for a thread to reach malloc
  // Set this flag to true to cancel. Inject then fails, unless a call in the target has begun.
  const std::atomic<bool>* canceled = nullptr;
};
inline constexpr size_t kMostTextBytes = 12 << 10;

struct Injected {
  int32_t result = 0;       // return value of `entry`
  uint64_t stopped_ns = 0;  // how long the thread that called `entry` was stopped
  uint32_t watched = 0;     // number of threads that got breakpoints
};

// Returns when the target's threads are restored. On an error, the target is unchanged. If the calling
// process is killed, the target is restored some milliseconds later. Call CheckTarget first. This function
// forks; the calling process may have several threads.
Result<Injected> Inject(pid_t pid, const Injection& injection);

}  // namespace vramscope::attach
