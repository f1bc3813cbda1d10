// SPDX-License-Identifier: Apache-2.0
// Draws frames of the viewer into an image in memory, without a window. The other code of the viewer is the
// same as with a window. There are two renderers:
//
//   EGL without a surface   draws with OpenGL, like the window; with Mesa, needs no display or GPU
//   software rasterizer     is part of the viewer; used if there is no OpenGL
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

// Returns the contents of a PNG file; "" if memory runs out.
[[nodiscard]] std::string EncodePng(const Image& image);
// Writes a PNG file. An error contains the file and the reason.
[[nodiscard]] Status WritePng(const Image& image, const std::string& path);

class Surface {
 public:
  virtual ~Surface() = default;
  virtual const char* name() const = 0;
  virtual Image Draw(const ImDrawData& frame) = 0;
};

enum class Renderer : uint8_t { kAuto, kEgl, kSoftware };

// Creates a surface of `width` x `height` pixels. Call after the fonts are loaded. Fails only if kEgl is
// requested and there is no EGL.
[[nodiscard]] Result<std::unique_ptr<Surface>> MakeSurface(Renderer renderer, int width, int height);

// MakeEglSurface returns nullptr and stores the reason in `why_not` if there is no suitable EGL.
[[nodiscard]] std::unique_ptr<Surface> MakeEglSurface(int width, int height, std::string& why_not);
[[nodiscard]] std::unique_ptr<Surface> MakeSoftwareSurface(int width, int height);

}  // namespace vramscope::viewer
