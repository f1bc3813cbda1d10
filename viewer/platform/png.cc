// SPDX-License-Identifier: Apache-2.0
// PNG files in memory.
#include <stb/stb_image_write.h>

#include "viewer/platform/surface.h"

namespace vramscope::viewer {

std::string EncodePng(const Image& image) {
  std::string bytes;
  stbi_write_png_compression_level = 3;
  const auto append = [](void* to, void* data, int size) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(data), static_cast<size_t>(size));
  };
  if (stbi_write_png_to_func(append, &bytes, image.width, image.height, 4, image.pixels.data(),
                             image.width * 4) == 0)
    bytes.clear();
  return bytes;
}

}  // namespace vramscope::viewer
