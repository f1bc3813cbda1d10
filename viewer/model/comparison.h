// SPDX-License-Identifier: Apache-2.0
// The data of the compare panel: the answer of `vramscope diff` for two open files, computed on another
// thread.
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

// Chooses which two open files are compared: initially the first and the second. If the user shows another
// file, this file becomes `after`.
class ComparedFiles {
 public:
  // Call once per frame. `shown`: index of the file that the other views show. `files`: number of open files,
  // at least 2.
  void Follow(size_t shown, size_t files);
  // Exchanges `before` and `after`.
  void Swap() { std::swap(before, after); }
  size_t before = 0;  // index of an open file
  size_t after = 1;   // index of an open file

 private:
  size_t shown_ = SIZE_MAX;
};

class ComparisonView {
 public:
  // Call once per frame. Starts the comparison if the documents have changed. The other thread calls `wake`
  // when the answer is ready. Both documents must exist until the next Update or until this object is
  // destroyed.
  void Update(const Document& before, const Document& after, const std::function<void()>& wake);
  [[nodiscard]] bool busy() const { return comparison_.busy(); }
  // Returns the answer; nullopt while it is being computed.
  [[nodiscard]] const std::optional<Result<Comparison>>& comparison() const { return comparison_.answer(); }

 private:
  using BeforeAndAfter = std::pair<const Document*, const Document*>;
  BackgroundAnswer<BeforeAndAfter, Result<Comparison>> comparison_;
};

}  // namespace vramscope::viewer
