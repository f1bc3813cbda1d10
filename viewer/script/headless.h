// SPDX-License-Identifier: Apache-2.0
// The viewer without a window, for scripts and tests. Draws frames on request and saves pictures to files.
#pragma once

#include <memory>
#include <string>

#include "viewer/panels/app.h"
#include "viewer/platform/surface.h"
#include "viewer/script/frame_times.h"

namespace vramscope::viewer {

struct HeadlessOptions {
  int width = 1600;  // points; the number of pixels is width * scale
  int height = 1000;
  float scale = 1;
  bool dark = true;
  std::string font;
  Renderer renderer = Renderer::kAuto;
  FrameTimes* times = nullptr;  // receives the time of each frame; may be nullptr
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
  // Draws frames without input and without measuring their time.
  void Rest(int frames);
  // Waits until every file is either completely loaded or refused. If frame times are measured, draws frames
  // while it waits.
  void WaitUntilLoaded();
  // Waits until the threads of the visible views have finished.
  void WaitForAnswers();
  // Waits until no element on the screen will move. For example, the timeline moves when the summary appears.
  // Draws one frame if nothing will move.
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
