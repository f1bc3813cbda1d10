// SPDX-License-Identifier: Apache-2.0
// The input of an export: an analyzed run, and the report's answer about it.
//
// An export takes its totals from the report's answer, and does not compute them again. Sums over the
// export's rows and points give equal figures (tests/export).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/classify/analysis.h"
#include "profiler/report/answer.h"
#include "profiler/report/request.h"
#include "profiler/timeline/curve.h"

namespace vramscope::exporting {

// Number of rows between two calls of the progress function.
inline constexpr uint64_t kBetweenTellings = 4096;

class Content {
 public:
  // `analysis` must outlive the result. Live stacks are those at the moment `request.at`, or at the peak if
  // no moment is requested. Fails if report::BuildAnswer fails, or if nothing was allocated.
  static Result<Content> Of(const classify::Analysis& analysis, report::Request request);

  // Called with the kind of rows (`things`), the number of rows written so far, and the total number of rows.
  using Progress = std::function<void(std::string_view things, uint64_t done, uint64_t total)>;
  void Watch(Progress progress) { progress_ = std::move(progress); }
  void Tell(std::string_view things, uint64_t done, uint64_t total) const {
    if (progress_) progress_(things, done, total);
  }

  [[nodiscard]] const classify::Analysis& analysis() const { return *analysis_; }
  [[nodiscard]] const model::Run& run() const { return analysis_->run(); }
  // The report's answer, with all owners. moments[0] contains the blocks of the live stacks.
  [[nodiscard]] const report::Answer& answer() const { return answer_; }
  [[nodiscard]] const std::vector<timeline::DeviceCurve>& curves() const { return curves_; }
  [[nodiscard]] model::DeviceIndex device() const { return device_; }
  [[nodiscard]] const timeline::DeviceCurve& curve() const { return curves_[device_]; }
  [[nodiscard]] model::EventIndex peak_event() const { return peak_event_; }
  [[nodiscard]] const timeline::Training& TrainingOf(model::ProcessIndex process) const {
    return analysis_->training()[process];
  }

 private:
  explicit Content(const classify::Analysis& analysis) : analysis_(&analysis) {}

  const classify::Analysis* analysis_;
  Progress progress_;
  report::Answer answer_;
  std::vector<timeline::DeviceCurve> curves_;
  model::DeviceIndex device_ = model::kNone;
  model::EventIndex peak_event_ = model::kNever;
};

}  // namespace vramscope::exporting
