// SPDX-License-Identifier: Apache-2.0
// Finds libcuda.so.1 in the memory of this process, without a call to the dynamic loader.
#pragma once

#include "injector/core/elf_image.h"

namespace vramscope::injector {

// Returns false if the driver is not loaded.
bool FindDriverImage(ElfImage* driver);

}  // namespace vramscope::injector
