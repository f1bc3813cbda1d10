// SPDX-License-Identifier: Apache-2.0
// The categories that a device's timeline shows.
//
// A thread computes a change: it takes 40 ms for ten million events, and a frame has 16 ms.
#pragma once

#include <functional>

#include "profiler/classify/memory_series.h"
#include "viewer/model/background_task.h"

namespace vramscope::viewer {

class CategoryChoice {
 public:
  // `series` will show these categories once computed. The last of several requests counts. `series` must
  // outlive the choice. Calls `wake` when Update has something to do.
  void Ask(const classify::MemorySeries& series, classify::CategoryMask categories,
           const std::function<void()>& wake);
  // Call once per frame: applies finished results.
  void Update(classify::MemorySeries& series, const std::function<void()>& wake);
  [[nodiscard]] bool busy() const { return counting_.busy(); }
  // The categories that are shown, or will be.
  [[nodiscard]] classify::CategoryMask Of(const classify::MemorySeries& series) const {
    return busy() ? asked_ : series.shown();
  }

 private:
  classify::CategoryMask asked_ = 0;
  BackgroundTask<classify::MemorySeries::Choice> counting_;
};

}  // namespace vramscope::viewer
