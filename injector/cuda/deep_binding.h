// SPDX-License-Identifier: Apache-2.0
// Patches dlsym, dlvsym and the driver's functions in objects that bypass us because of how or when they were
// loaded.
#pragma once

#include <cstdint>

#include "injector/core/elf_image.h"

namespace vramscope::injector {

// Redirect the slots of one object, and undo it. One thread at a time.
void PatchLookupsOf(const ElfImage& image);
void RestoreLookupsOf(const ElfImage& image);

// Called from assembly, for dlopen with RTLD_DEEPBIND.
struct OpenAnswer {
  void* handle;
  uint64_t is_final;  // 0 = jump on to the real dlopen
};
extern "C" OpenAnswer vramscope_open_deep(const char* path, int flags);

}  // namespace vramscope::injector
