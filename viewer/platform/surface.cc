// SPDX-License-Identifier: Apache-2.0
#include "viewer/platform/surface.h"

#include <stb/stb_image_write.h>

#include <cerrno>
#include <cstring>

namespace vramscope::viewer {

Status WritePng(const Image& image, const std::string& path) {
  // Level 8 takes three times as long as 3 and saves a tenth.
  stbi_write_png_compression_level = 3;
  errno = 0;
  if (stbi_write_png(path.c_str(), image.width, image.height, 4, image.pixels.data(), image.width * 4) != 0)
    return {};
  return Error{path + ": the picture could not be written: " +
               (errno != 0 ? std::strerror(errno) : "unknown error") + "."};
}

Result<std::unique_ptr<Surface>> MakeSurface(Renderer renderer, int width, int height) {
  std::string why_not;
  if (renderer != Renderer::kSoftware) {
    if (auto surface = MakeEglSurface(width, height, why_not)) return surface;
    if (renderer == Renderer::kEgl)
      return Error{"OpenGL cannot be used without a display here: " + why_not + "."};
  }
  return MakeSoftwareSurface(width, height);
}

}  // namespace vramscope::viewer
