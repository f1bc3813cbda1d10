// SPDX-License-Identifier: Apache-2.0
// The data of the fragmentation panel and the out-of-memory panel, computed by profiler/fragmentation. Slow
// results are computed on another thread.
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
  // Computes the answer and the segments at `moment`. `layout.walk` must exist.
  void Update(const LayoutView& layout, fragmentation::Moment moment);

  [[nodiscard]] const fragmentation::MomentAnswer& answer() const { return answer_; }
  // Sorted by held-back bytes, most first.
  [[nodiscard]] const std::vector<fragmentation::SegmentAnswer>& segments() const { return segments_; }

 private:
  const LayoutView* layout_ = nullptr;
  fragmentation::Moment moment_ = 0;
  std::unique_ptr<fragmentation::LayoutCursor> cursor_;
  fragmentation::MomentAnswer answer_;
  std::vector<fragmentation::SegmentAnswer> segments_;
};

// Examines the last out-of-memory failure. The examination runs on another thread, because a long history
// takes seconds.
class AutopsyView {
 public:
  // Starts the examination if the layout has changed. Calls `wake` when it is done.
  void Update(const LayoutView& layout, const std::function<void()>& wake);
  [[nodiscard]] bool busy() const { return autopsy_.busy(); }
  // The result; empty while it is being computed.
  [[nodiscard]] const std::optional<Result<fragmentation::Autopsy>>& autopsy() const {
    return autopsy_.answer();
  }

 private:
  BackgroundAnswer<const LayoutView*, Result<fragmentation::Autopsy>> autopsy_;
};

}  // namespace vramscope::viewer
