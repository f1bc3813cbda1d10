// SPDX-License-Identifier: Apache-2.0
// The window of the desktop program: GLFW and OpenGL 3. Sleeps until something happens.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace_format/result.h"
#include "viewer/platform/keyboard_and_fonts.h"

struct GLFWwindow;

namespace vramscope::viewer {

class Window {
 public:
  // `width` and `height` in points. Call after ImGui's context is created.
  [[nodiscard]] static Result<std::unique_ptr<Window>> Open(int width, int height, KeyQueue& keys);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // The display's scale: 2 if set to 200 %; 1 with Wayland, which scales by itself.
  [[nodiscard]] float display_scale() const;
  [[nodiscard]] bool closing() const;
  // Sleeps until input, Wake, or `seconds` have passed (false).
  [[nodiscard]] bool Wait(double seconds);
  // Ends a sleep, from any thread.
  static void Wake();
  void BeginFrame();
  void EndFrame();
  void SetTitle(const std::string& title);
  // Files dropped on the window since the last call.
  [[nodiscard]] std::vector<std::string> TakeDroppedFiles();
  // "NVIDIA GeForce ...", "llvmpipe ...".
  [[nodiscard]] std::string renderer() const;

 private:
  Window(GLFWwindow* window, KeyQueue& keys);

  GLFWwindow* window_;
  KeyQueue& keys_;
  std::vector<std::string> dropped_;
};

}  // namespace vramscope::viewer
