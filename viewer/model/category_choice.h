// SPDX-License-Identifier: Apache-2.0
// Stores which categories a device's timeline shows, and computes a change of this choice.
//
// A change is computed on another thread. For ten million events it takes 40 ms, but a frame of the display
// has only 16 ms.
#pragma once

#include <functional>

#include "profiler/classify/memory_series.h"
#include "viewer/model/background_task.h"

namespace vramscope::viewer {

class CategoryChoice {
 public:
  // Requests that `series` shows these categories. If there are several requests, the last one counts.
  // `series` must outlive this object. Calls `wake` when Update can apply a result.
  void Ask(const classify::MemorySeries& series, classify::CategoryMask categories,
           const std::function<void()>& wake);
  // Applies a finished result. Call this once per frame.
  void Update(classify::MemorySeries& series, const std::function<void()>& wake);
  [[nodiscard]] bool busy() const { return counting_.busy(); }
  // Returns the requested categories, or the shown ones if no request is being computed.
  [[nodiscard]] classify::CategoryMask Of(const classify::MemorySeries& series) const {
    return busy() ? asked_ : series.shown();
  }

 private:
  classify::CategoryMask asked_ = 0;
  BackgroundTask<classify::MemorySeries::Choice> counting_;
};

}  // namespace vramscope::viewer
