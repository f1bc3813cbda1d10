// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/driver_image.h"

#include <string.h>

namespace vramscope::injector {

bool FindDriverImage(ElfImage* driver) {
  ForEachImage(
      [](const ElfImage& image, void* found) {
        const char* const slash = strrchr(image.name(), '/');
        if (strncmp(slash == nullptr ? image.name() : slash + 1, "libcuda.so", 10) != 0) return true;
        *static_cast<ElfImage*>(found) = image;
        return false;
      },
      driver);
  return driver->base() != 0;
}

}  // namespace vramscope::injector
