// SPDX-License-Identifier: Apache-2.0
// The fragmentation and out-of-memory panels: answers of profiler/fragmentation. Slow ones are computed on a
// thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "profiler/fragmentation/answer.h"
#include "profiler/fragmentation/autopsy.h"
#include "viewer/model/background_task.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

class FragmentationView {
 public:
  // Computes the state at that moment. `layout.walk` must exist.
  void Update(const LayoutView& layout, fragmentation::Moment moment);

  [[nodiscard]] const fragmentation::MomentAnswer& answer() const { return answer_; }
  // Most held-back bytes first.
  [[nodiscard]] const std::vector<fragmentation::SegmentAnswer>& segments() const { return segments_; }

 private:
  const LayoutView* layout_ = nullptr;
  fragmentation::Moment moment_ = 0;
  std::unique_ptr<fragmentation::LayoutCursor> cursor_;
  fragmentation::MomentAnswer answer_;
  std::vector<fragmentation::SegmentAnswer> segments_;
};

// Examines the last out-of-memory failure on a thread: seconds for a long history.
class AutopsyView {
 public:
  // Starts if the layout has changed. Calls `wake` when done.
  void Update(const LayoutView& layout, const std::function<void()>& wake);
  [[nodiscard]] bool busy() const { return autopsy_.busy(); }
  // Nothing while it is being examined.
  [[nodiscard]] const std::optional<Result<fragmentation::Autopsy>>& autopsy() const {
    return autopsy_.answer();
  }

 private:
  BackgroundAnswer<const LayoutView*, Result<fragmentation::Autopsy>> autopsy_;
};

}  // namespace vramscope::viewer
