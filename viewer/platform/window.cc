// SPDX-License-Identifier: Apache-2.0
#include "viewer/platform/window.h"

#define GLFW_INCLUDE_NONE
#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>

#include <cstdlib>
#include <utility>

namespace vramscope::viewer {
namespace {

std::string LastError() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text == nullptr ? "no reason was given" : text;
}

// True if the environment tells libwayland where to look for a display. Otherwise libwayland prints an error,
// even if X11 has a display.
bool MayHaveWayland() {
  const auto is_path = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] == '/';
  };
  return is_path("XDG_RUNTIME_DIR") || is_path("WAYLAND_DISPLAY") || std::getenv("WAYLAND_SOCKET") != nullptr;
}

Window* OwnerOf(GLFWwindow* window) { return static_cast<Window*>(glfwGetWindowUserPointer(window)); }

}  // namespace

Result<std::unique_ptr<Window>> Window::Open(int width, int height, KeyQueue& keys) {
  if (!MayHaveWayland()) glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
  if (glfwInit() == GLFW_FALSE) {
    return Error{
        "a window cannot be opened: " + LastError() +
        ". Without a display, use a browser: vramscope serve FILE; or write a picture: vramscope view FILE "
        "--screenshot out.png"};
  }
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  GLFWwindow* window = glfwCreateWindow(width, height, "vramscope", nullptr, nullptr);
  if (window == nullptr) {
    const std::string why = LastError();
    glfwTerminate();
    return Error{"a window with OpenGL 3.3 cannot be opened: " + why +
                 ". Without OpenGL, write pictures: vramscope-viewer --screenshot out.png FILE."};
  }
  return std::unique_ptr<Window>(new Window(window, keys));
}

Window::Window(GLFWwindow* window, KeyQueue& keys) : window_(window), keys_(keys) {
  glfwSetWindowUserPointer(window_, this);
  glfwMakeContextCurrent(window_);
  glfwSwapInterval(1);
  // Set before ImGui's callback, which calls ours, so that every press is seen, however short
  // (keyboard_and_fonts.h).
  glfwSetKeyCallback(window_, [](GLFWwindow* of, int key, int, int action, int mods) {
    if (action == GLFW_RELEASE) return;
    OwnerOf(of)->keys_.Push({static_cast<Key>(key), (mods & GLFW_MOD_CONTROL) != 0,
                             (mods & GLFW_MOD_SHIFT) != 0, (mods & GLFW_MOD_ALT) != 0});
  });
  glfwSetDropCallback(window_, [](GLFWwindow* of, int count, const char** paths) {
    for (int i = 0; i < count; ++i) OwnerOf(of)->dropped_.emplace_back(paths[i]);
  });
  ImGui_ImplGlfw_InitForOpenGL(window_, true);
  ImGui_ImplOpenGL3_Init("#version 330 core");
}

Window::~Window() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  glfwDestroyWindow(window_);
  glfwTerminate();
}

float Window::display_scale() const { return ImGui_ImplGlfw_GetContentScaleForWindow(window_); }

bool Window::closing() const { return glfwWindowShouldClose(window_) != 0; }
bool Window::Wait(double seconds) {
  const double end = glfwGetTime() + seconds;
  glfwWaitEventsTimeout(seconds);
  return glfwGetTime() < end;
}
void Window::Wake() { glfwPostEmptyEvent(); }
void Window::SetTitle(const std::string& title) { glfwSetWindowTitle(window_, title.c_str()); }
std::vector<std::string> Window::TakeDroppedFiles() { return std::exchange(dropped_, {}); }

void Window::BeginFrame() {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
}

void Window::EndFrame() {
  int width = 0;
  int height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  glViewport(0, 0, width, height);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  glfwSwapBuffers(window_);
}

std::string Window::renderer() const {
  const GLubyte* text = glGetString(GL_RENDERER);
  return text == nullptr ? "OpenGL" : reinterpret_cast<const char*>(text);
}

}  // namespace vramscope::viewer
