// SPDX-License-Identifier: Apache-2.0
// The collector's request to this process, copied from the environment before the program can change it.
//
//   VRAMSCOPE_OPTIONS="device=auto;depth=auto;deep_steps=2-4;stacks=none"
//
//   device=auto|cpu|cuda|all       depth=light|auto|deep|all    deep_steps=A-B,C,...
//   stacks=none|python|native|all  bridge=PATH                  shim=FOLDER
//   cupti=off|auto|on              emit_nvtx_mem=on             bridge_torch_bytes=N
//   clock=auto|monotonic           ring_bytes=N (a power of two; for tests)
//   program=on|off (read by the Python shim)
#pragma once

#include <stddef.h>

#include <cstdint>

namespace vramscope::injector {

struct Options {
  char session[4096];  // the session folder; empty = this process is not recorded
  char text[8192];     // VRAMSCOPE_OPTIONS
  int collector = 0;   // pid; 0 = unknown, treated as alive
  bool dormant;        // VRAMSCOPE=dormant: wait for a request (dormant.h)
};

extern Options options;

// Atomic, because SetOptions may change the options while other threads read them.
inline bool SessionIsWanted() { return __atomic_load_n(&options.session[0], __ATOMIC_ACQUIRE) != 0; }
inline int CollectorPid() { return __atomic_load_n(&options.collector, __ATOMIC_RELAXED); }

// Reads the environment. A setuid process is never recorded.
void ReadOptions();
// Like ReadOptions, from arguments, for a session on demand. False, without a change, if an argument is too
// long. An empty `session` stops recording.
bool SetOptions(const char* session, const char* text, int collector);
// Copies the value of `key`, truncated to fit, 0-terminated if capacity > 0. Returns the length; 0 if absent.
size_t Option(const char* key, char* buffer, size_t capacity);
bool OptionIs(const char* key, const char* value);
// The number at the start of the value; `absent` if none.
uint64_t OptionNumber(const char* key, uint64_t absent);

}  // namespace vramscope::injector
