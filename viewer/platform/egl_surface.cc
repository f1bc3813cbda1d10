// SPDX-License-Identifier: Apache-2.0
#define EGL_NO_X11  // X11 defines macros Status and None
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <imgui_impl_opengl3.h>

#include <algorithm>

#include "viewer/platform/surface.h"

namespace vramscope::viewer {
namespace {

class EglSurface final : public Surface {
 public:
  EglSurface(int width, int height) : width_(width), height_(height) {}

  bool Begin(std::string& why_not) {
    const auto get_display =
        reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
    if (get_display == nullptr) return Refuse(why_not, "EGL has no platform displays");
    display_ = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (display_ == EGL_NO_DISPLAY || eglInitialize(display_, nullptr, nullptr) == EGL_FALSE) {
      return Refuse(why_not, "EGL has no surfaceless display");
    }
    if (eglBindAPI(EGL_OPENGL_API) == EGL_FALSE) return Refuse(why_not, "EGL has no OpenGL");
    const EGLint config_wish[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT,
                                  EGL_NONE};
    EGLConfig config = nullptr;
    EGLint count = 0;
    if (eglChooseConfig(display_, config_wish, &config, 1, &count) == EGL_FALSE || count == 0) {
      return Refuse(why_not, "EGL has no configuration for OpenGL");
    }
    const EGLint context_wish[] = {EGL_CONTEXT_MAJOR_VERSION,
                                   3,
                                   EGL_CONTEXT_MINOR_VERSION,
                                   3,
                                   EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                   EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                   EGL_NONE};
    context_ = eglCreateContext(display_, config, EGL_NO_CONTEXT, context_wish);
    if (context_ == EGL_NO_CONTEXT ||
        eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_) == EGL_FALSE) {
      return Refuse(why_not, "EGL provides no OpenGL 3.3 context");
    }
    glGenFramebuffers(1, &framebuffer_);
    glGenRenderbuffers(1, &pixels_);
    glBindRenderbuffer(GL_RENDERBUFFER, pixels_);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width_, height_);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, pixels_);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
      return Refuse(why_not, "OpenGL cannot draw a picture of that size");
    }
    drawing_ = ImGui_ImplOpenGL3_Init("#version 330 core");
    if (!drawing_) return Refuse(why_not, "OpenGL 3.3 does not work");
    ImGui_ImplOpenGL3_NewFrame();  // compiles its shaders
    return true;
  }

  ~EglSurface() override {
    if (drawing_) ImGui_ImplOpenGL3_Shutdown();
    if (framebuffer_ != 0) glDeleteFramebuffers(1, &framebuffer_);
    if (pixels_ != 0) glDeleteRenderbuffers(1, &pixels_);
    if (context_ != EGL_NO_CONTEXT) {
      eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
      eglDestroyContext(display_, context_);
    }
    if (display_ != EGL_NO_DISPLAY) eglTerminate(display_);
  }
  const char* name() const override { return "egl"; }

  Image Draw(const ImDrawData& frame) override {
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
    glViewport(0, 0, width_, height_);
    glClearColor(0, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    ImDrawData copy = frame;
    ImGui_ImplOpenGL3_RenderDrawData(&copy);
    Image image{width_, height_,
                std::vector<uint32_t>(static_cast<size_t>(width_) * static_cast<size_t>(height_))};
    glReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, image.pixels.data());
    const auto row = static_cast<size_t>(width_);
    for (size_t y = 0; y < static_cast<size_t>(height_) / 2; ++y) {  // OpenGL's rows come from the bottom
      std::swap_ranges(image.pixels.begin() + static_cast<ptrdiff_t>(y * row),
                       image.pixels.begin() + static_cast<ptrdiff_t>((y + 1) * row),
                       image.pixels.end() - static_cast<ptrdiff_t>((y + 1) * row));
    }
    for (uint32_t& pixel : image.pixels) pixel |= 0xff000000u;
    return image;
  }

 private:
  static bool Refuse(std::string& why_not, const char* reason) {
    why_not = reason;
    return false;
  }

  int width_;
  int height_;
  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
  GLuint framebuffer_ = 0;
  GLuint pixels_ = 0;
  bool drawing_ = false;
};

}  // namespace

std::unique_ptr<Surface> MakeEglSurface(int width, int height, std::string& why_not) {
  auto surface = std::make_unique<EglSurface>(width, height);
  if (!surface->Begin(why_not)) return nullptr;
  return surface;
}

}  // namespace vramscope::viewer
