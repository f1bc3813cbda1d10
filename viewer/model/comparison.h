// SPDX-License-Identifier: Apache-2.0
// The content of the compare panel: the answer of `vramscope diff` for two open files, computed on a thread
// when either file changes.
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
  // Both documents must outlive the view, or its next Update. Calls `wake` when there is an answer.
  void Update(const Document& before, const Document& after, const std::function<void()>& wake);
  [[nodiscard]] bool busy() const { return running_.valid(); }
  // Nothing while it is being computed.
  [[nodiscard]] const std::optional<Result<Comparison>>& comparison() const { return comparison_; }

 private:
  const Document* before_ = nullptr;
  const Document* after_ = nullptr;
  std::future<Result<Comparison>> running_;
  std::optional<Result<Comparison>> comparison_;
};

}  // namespace vramscope::viewer
