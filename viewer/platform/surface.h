// SPDX-License-Identifier: Apache-2.0
// Draws frames into a picture in memory, without a window. All other code is the same.
//
//   EGL without a surface (Mesa: no display, no GPU, no rights needed)   what a GPU draws, to the pixel
//   our own rasterizer                                                   if there is no OpenGL at all
#pragma once

#include <imgui.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::viewer {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint32_t> pixels;  // RGBA in memory order, from the top
};

// A PNG file; "" without memory.
[[nodiscard]] std::string EncodePng(const Image& image);
// An error names the file and the reason.
[[nodiscard]] Status WritePng(const Image& image, const std::string& path);

class Surface {
 public:
  virtual ~Surface() = default;
  virtual const char* name() const = 0;
  virtual Image Draw(const ImDrawData& frame) = 0;
};

enum class Renderer : uint8_t { kAuto, kEgl, kSoftware };

// `width`, `height`: pixels. Call after the fonts are loaded. Fails only if kEgl was requested and is
// missing.
[[nodiscard]] Result<std::unique_ptr<Surface>> MakeSurface(Renderer renderer, int width, int height);

// MakeEglSurface returns nullptr and the reason, if there is no suitable EGL.
[[nodiscard]] std::unique_ptr<Surface> MakeEglSurface(int width, int height, std::string& why_not);
[[nodiscard]] std::unique_ptr<Surface> MakeSoftwareSurface(int width, int height);

}  // namespace vramscope::viewer
