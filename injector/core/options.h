// SPDX-License-Identifier: Apache-2.0
// The options that the collector has set for this process. They are copied from the environment before the
// program can change it.
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
  int collector = 0;   // process id of the collector; 0 = unknown
  bool dormant;        // VRAMSCOPE=dormant: recording begins on request (dormant.h)
};

extern Options options;

// Both functions read atomically, because SetOptions may change the options while other threads read them.
inline bool SessionIsWanted() { return __atomic_load_n(&options.session[0], __ATOMIC_ACQUIRE) != 0; }
inline int CollectorPid() { return __atomic_load_n(&options.collector, __ATOMIC_RELAXED); }

// Reads the environment. A setuid process is never recorded.
void ReadOptions();
// Sets the options from the arguments, to begin a session while the program runs. An empty `session` stops
// recording. Returns false, and changes nothing, if an argument is too long.
bool SetOptions(const char* session, const char* text, int collector);
// Copies the value of option `key` into `buffer`, 0-terminated and truncated to `capacity`. Returns the
// copied length, or 0 if the option is absent.
size_t Option(const char* key, char* buffer, size_t capacity);
bool OptionIs(const char* key, const char* value);
// Returns the number at the start of the option's value, or `absent` if the value does not start with a
// digit.
uint64_t OptionNumber(const char* key, uint64_t absent);

}  // namespace vramscope::injector
