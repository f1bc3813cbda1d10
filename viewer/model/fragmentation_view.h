// SPDX-License-Identifier: Apache-2.0
// What the fragmentation and out-of-memory panels print: answers of profiler/fragmentation, asked for again
// only when the moment has changed, and the slow ones on a thread.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "profiler/fragmentation/answer.h"
#include "profiler/fragmentation/autopsy.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

class FragmentationView {
 public:
  // The state at that moment. `layout.walk` must be there.
  void Update(const LayoutView& layout, fragmentation::Moment moment);

  [[nodiscard]] const fragmentation::MomentAnswer& answer() const { return answer_; }
  // Most held back first.
  [[nodiscard]] const std::vector<fragmentation::SegmentAnswer>& segments() const { return segments_; }

 private:
  const LayoutView* layout_ = nullptr;
  fragmentation::Moment moment_ = 0;
  std::unique_ptr<fragmentation::LayoutCursor> cursor_;
  fragmentation::MomentAnswer answer_;
  std::vector<fragmentation::SegmentAnswer> segments_;
};

// Tries other settings on the model of the allocator, which takes seconds for a long history.
class AutopsyView {
 public:
  // Begins with the last failure when the layout is another one. `wake` when it is done.
  void Update(const LayoutView& layout, const std::function<void()>& wake);
  [[nodiscard]] bool busy() const { return running_.valid(); }
  // Nothing while it is examined.
  [[nodiscard]] const std::optional<Result<fragmentation::Autopsy>>& autopsy() const { return autopsy_; }

 private:
  const LayoutView* layout_ = nullptr;
  std::future<Result<fragmentation::Autopsy>> running_;
  std::optional<Result<fragmentation::Autopsy>> autopsy_;
};

}  // namespace vramscope::viewer
