// SPDX-License-Identifier: Apache-2.0
// Redirects calls of dlsym, dlvsym and the driver's functions to our functions, in objects where the linker
// does not. These are objects loaded with RTLD_DEEPBIND, or loaded before this library.
#pragma once

#include <cstdint>

#include "injector/core/elf_image.h"

namespace vramscope::injector {

// The first function redirects the slots of one object, the second restores them. Only one thread at a time
// may call these functions.
void PatchLookupsOf(const ElfImage& image);
void RestoreLookupsOf(const ElfImage& image);

// The result of vramscope_open_deep, which loads `path` and patches the new objects. The assembly code of
// dlopen calls this function for RTLD_DEEPBIND.
struct OpenAnswer {
  void* handle;       // the result of dlopen, if is_final is 1
  uint64_t is_final;  // 0 = not loaded here: the caller must jump to the real dlopen
};
extern "C" OpenAnswer vramscope_open_deep(const char* path, int flags);

}  // namespace vramscope::injector
