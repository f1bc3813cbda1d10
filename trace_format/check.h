// SPDX-License-Identifier: Apache-2.0
// VRAMSCOPE_CHECK: an assertion that stays active in release builds.
//
// A wrong figure that looks right costs a user more than an abort. Use VRAMSCOPE_CHECK where the check is
// cheap. Do not use it for untrusted input: return a Result instead. Do not use it inside the recorded
// process.
//
//   VRAMSCOPE_CHECK(block.bytes > 0);
//   vramscope: internal error: layout.cc:156: block.bytes > 0. This is a bug in vramscope.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace vramscope {

// Prints one line to stderr and ends the program with SIGABRT.
[[noreturn]] __attribute__((cold, noinline)) inline void CheckFailed(const char* condition, const char* path,
                                                                     int line) {
  const char* const slash = std::strrchr(path, '/');
  std::fprintf(stderr, "vramscope: internal error: %s:%d: %s. This is a bug in vramscope.\n",
               slash == nullptr ? path : slash + 1, line, condition);
  std::abort();
}

}  // namespace vramscope

#define VRAMSCOPE_CHECK(condition)                     \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::vramscope::CheckFailed(#condition, __FILE__, __LINE__))
