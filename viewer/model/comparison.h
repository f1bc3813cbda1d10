// SPDX-License-Identifier: Apache-2.0
// The compare panel: the answer of `vramscope diff` for two open files, computed on a thread.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "profiler/diff/compare.h"
#include "viewer/model/background_task.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

struct Comparison {
  diff::Side before;
  diff::Side after;
  diff::Diff diff;
};

// The open files that are compared: at first the first and the second. A file that is shown later becomes
// `after`.
class ComparedFiles {
 public:
  // Call once per frame. `shown`: the file in the other views. Needs two files.
  void Follow(size_t shown, size_t files);
  void Swap() { std::swap(before, after); }
  size_t before = 0;
  size_t after = 1;

 private:
  size_t shown_ = SIZE_MAX;
};

class ComparisonView {
 public:
  // Both documents must live until the next Update or the view's end. Calls `wake` when there is an answer.
  void Update(const Document& before, const Document& after, const std::function<void()>& wake);
  [[nodiscard]] bool busy() const { return comparison_.busy(); }
  // Nothing while it is being computed.
  [[nodiscard]] const std::optional<Result<Comparison>>& comparison() const { return comparison_.answer(); }

 private:
  using BeforeAndAfter = std::pair<const Document*, const Document*>;
  BackgroundAnswer<BeforeAndAfter, Result<Comparison>> comparison_;
};

}  // namespace vramscope::viewer
