// SPDX-License-Identifier: Apache-2.0
// The summary, computed on threads: the device's report, then the changes that would save most.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "viewer/model/background_task.h"
#include "viewer/model/document.h"
#include "viewer/model/summary.h"

namespace vramscope::viewer {

class SummaryView {
 public:
  // Document and device must live until the next Update, Forget or Clear. Calls `wake` when there is an
  // answer. `live`: the file grows, and savings are not computed.
  void Update(const Document& document, const DeviceView& device, bool live,
              const std::function<void()>& wake);
  // Forgets the device; call before its document is destroyed. Waits for the threads. The old summary is
  // shown until there is a new one.
  void Forget();
  // Also forgets the summary.
  void Clear();
  [[nodiscard]] bool busy() const { return answering_.busy() || saving_.busy(); }
  // Nothing while it is being computed. Savings follow.
  [[nodiscard]] const std::optional<RunSummary>& summary() const { return summary_; }

 private:
  const DeviceView* device_ = nullptr;
  bool live_ = false;
  std::optional<report::Answer> answer_;
  std::optional<RunSummary> summary_;
  BackgroundTask<Result<report::Answer>> answering_;
  BackgroundTask<std::optional<report::Savings>> saving_;
};

}  // namespace vramscope::viewer
