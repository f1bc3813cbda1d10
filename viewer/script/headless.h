// SPDX-License-Identifier: Apache-2.0
// The viewer without a window: frames on request, pictures into files.
#pragma once

#include <memory>
#include <string>

#include "viewer/panels/app.h"
#include "viewer/platform/surface.h"
#include "viewer/script/frame_times.h"

namespace vramscope::viewer {

struct HeadlessOptions {
  int width = 1600;  // in points; the picture has scale times as many pixels
  int height = 1000;
  float scale = 1;
  bool dark = true;
  std::string font;
  Renderer renderer = Renderer::kAuto;
  FrameTimes* times = nullptr;  // receives every frame's time; may be nullptr
};

class Headless {
 public:
  explicit Headless(const HeadlessOptions& options);
  ~Headless();
  Headless(const Headless&) = delete;
  Headless& operator=(const Headless&) = delete;

  // Creates the renderer; call before the first frame.
  [[nodiscard]] Status Begin();
  void Frame();
  // Draws frames without input; they are not timed.
  void Rest(int frames);
  // Waits until every file is refused, or is open with its blocks placed. If frames are timed, draws frames
  // while it waits, like a window.
  void WaitUntilLoaded();
  // Waits until answers that the view computes on a thread (an autopsy, a comparison) are on the screen.
  void WaitForAnswers();
  // Waits until elements stay where they are: a summary that arrives moves the timeline below it, so a wheel
  // event for the timeline would go to the summary. One frame if nothing will move.
  void Settle();
  // Draws the current frame into a file.
  [[nodiscard]] Status Shot(const std::string& path);

  [[nodiscard]] App& app() { return *app_; }

 private:
  HeadlessOptions options_;
  bool resting_ = false;
  std::unique_ptr<App> app_;
  std::unique_ptr<Surface> surface_;
};

}  // namespace vramscope::viewer
