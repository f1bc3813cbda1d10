// SPDX-License-Identifier: Apache-2.0
// Decides when a frame is drawn, in the window and in a browser.
#pragma once

#include <algorithm>

#include "viewer/panels/app.h"

namespace vramscope::viewer {

// A frame is drawn only if it may differ from the last frame. Without a GPU, each frame costs 20 ms of
// processor time.
class Redraw {
 public:
  // Returns true if a frame must be drawn now. `happened` is true if there was input or a thread has a new
  // result.
  [[nodiscard]] bool Wanted(App& app, bool happened) {
    Session& session = app.session;
    session.Update();  // a file may have grown
    const bool moves = session.playing() || session.loading() || ImGui::GetIO().WantTextInput ||
                       app.waits == Waits::kNextFrame || app.generation != session.generation() ||
                       !app.said.empty();
    const bool live = std::any_of(session.files().begin(), session.files().end(),
                                  [](const auto& file) { return file->live(); });
    if (happened) owed_ = kFramesToSettle;
    if (happened || moves || live || live != was_live_) left_ = kFramesToSettle;
    was_live_ = live;
    if (left_ == 0) return false;
    --left_;
    if (owed_ != 0) --owed_;
    return true;
  }
  // True if input requires one more frame immediately.
  [[nodiscard]] bool owed() const { return owed_ != 0; }

 private:
  // After this number of frames without input, nothing on the screen moves anymore.
  static constexpr int kFramesToSettle = 4;

  int left_ = kFramesToSettle;
  int owed_ = 0;
  bool was_live_ = false;
};

}  // namespace vramscope::viewer
