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
  int width = 1600;  // in points; pixels are scale times as many
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

  // Call before the first frame.
  [[nodiscard]] Status Begin();
  void Frame();
  // Draws untimed frames without input.
  void Rest(int frames);
  // Waits until every file is refused, or open with its blocks placed. Draws frames meanwhile if they are
  // timed.
  void WaitUntilLoaded();
  // Waits until the view's threads have answered.
  void WaitForAnswers();
  // Waits until elements stay in place: an arriving summary moves the timeline under the mouse. Draws one
  // frame if nothing will move.
  void Settle();
  [[nodiscard]] Status Shot(const std::string& path);

  [[nodiscard]] App& app() { return *app_; }

 private:
  HeadlessOptions options_;
  bool resting_ = false;
  std::unique_ptr<App> app_;
  std::unique_ptr<Surface> surface_;
};

}  // namespace vramscope::viewer
