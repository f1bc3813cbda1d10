// SPDX-License-Identifier: Apache-2.0
// What the compare panel prints: the answer of `vramscope diff` for two open files, made on a thread when
// either of them is another one than before.
#pragma once

#include <functional>
#include <future>
#include <optional>

#include "profiler/diff/compare.h"
#include "viewer/model/document.h"

namespace vramscope::viewer {

struct Comparison {
  diff::Side before;
  diff::Side after;
  diff::Diff diff;
};

class ComparisonView {
 public:
  // Both documents must outlive the view, or its next Update. `wake` when there is an answer.
  void Update(const Document& before, const Document& after, const std::function<void()>& wake);
  [[nodiscard]] bool busy() const { return running_.valid(); }
  // Nothing while it is made.
  [[nodiscard]] const std::optional<Result<Comparison>>& comparison() const { return comparison_; }

 private:
  const Document* before_ = nullptr;
  const Document* after_ = nullptr;
  std::future<Result<Comparison>> running_;
  std::optional<Result<Comparison>> comparison_;
};

}  // namespace vramscope::viewer
