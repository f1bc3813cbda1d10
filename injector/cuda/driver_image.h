// SPDX-License-Identifier: Apache-2.0
// The loaded libcuda.so.1, read without the loader.
#pragma once

#include "injector/core/elf_image.h"

namespace vramscope::injector {

// False if no driver is loaded.
bool FindDriverImage(ElfImage* driver);

}  // namespace vramscope::injector
