// SPDX-License-Identifier: Apache-2.0
// The window of the desktop viewer (GLFW and OpenGL 3). The program sleeps until there is input.
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
  // Opens the window. `width` and `height` are in points. Call after ImGui's context is created.
  [[nodiscard]] static Result<std::unique_ptr<Window>> Open(int width, int height, KeyQueue& keys);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // Returns the scale of the display: 2 for 200 %. With Wayland, returns 1, because Wayland scales the window
  // itself.
  [[nodiscard]] float display_scale() const;
  [[nodiscard]] bool closing() const;
  // Sleeps until there is input or Wake() is called (returns true), or until `seconds` have passed (returns
  // false).
  [[nodiscard]] bool Wait(double seconds);
  // Ends Wait(). Any thread may call this.
  static void Wake();
  void BeginFrame();
  void EndFrame();
  void SetTitle(const std::string& title);
  // Returns the paths of files that were dropped on the window since the last call.
  [[nodiscard]] std::vector<std::string> TakeDroppedFiles();
  // Returns the name of the OpenGL renderer: "NVIDIA GeForce ...", "llvmpipe ...".
  [[nodiscard]] std::string renderer() const;

 private:
  Window(GLFWwindow* window, KeyQueue& keys);

  GLFWwindow* window_;
  KeyQueue& keys_;
  std::vector<std::string> dropped_;
};

}  // namespace vramscope::viewer
