// SPDX-License-Identifier: Apache-2.0
// Computes the summary page (summary.h) on other threads: first the device's report, then the suggested
// savings.
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
  // Starts to compute the summary if the device has changed. `document` and `device` must live until the next
  // Update, Forget or Clear. Calls `wake` when there is an answer. `live` = true: the file is growing, so
  // savings are not computed.
  void Update(const Document& document, const DeviceView& device, bool live,
              const std::function<void()>& wake);
  // Stops using the device, and waits for the threads. Call this before the device's document is destroyed.
  // The old summary remains visible until there is a new summary.
  void Forget();
  // Like Forget, and also removes the summary.
  void Clear();
  [[nodiscard]] bool busy() const { return answering_.busy() || saving_.busy(); }
  // The summary; empty while the report is being computed. Savings are added later.
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
