// SPDX-License-Identifier: Apache-2.0
// For dlopen with RTLD_DEEPBIND, from assembly.
#pragma once

#include <cstdint>

namespace vramscope::injector {

struct OpenAnswer {
  void* handle;
  uint64_t is_final;  // 0 = jump on to the real dlopen
};
extern "C" OpenAnswer vramscope_open_deep(const char* path, int flags);

}  // namespace vramscope::injector
