// SPDX-License-Identifier: Apache-2.0
// Formats the answers of `vramscope plan` as text and as JSON (docs/json.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/cli/ask/plan_request.h"
#include "profiler/cli/ask/plan_verify.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/experiment/recorded_step.h"
#include "profiler/plan/largest_batch.h"

namespace vramscope::cli {

using experiment::RecordedStep;

struct PlanSubject : plan::FitLimit {
  std::string path;
  const RecordedStep* recorded = nullptr;
};

struct PlanAnswer {
  plan::Answer plans;
  std::map<std::string, Verified> verified;  // measurements of plans that were run, by plan::TextOf
  std::vector<std::pair<plan::Changes, Verified>> left_out;  // plans whose run failed or needs too much
  std::string verified_on;                                   // GPU on which the plans were run: "a100-80gb"
  bool rerun = false;  // true if the plans were verified by re-runs of the recorded program
  // Reason why the recorded program could not be run again; "" if it could.
  std::string why_not_rerun;

  [[nodiscard]] const Verified* VerifiedOf(const plan::Plan& plan) const;
};

// The answer for one GPU model on which the program fits, unchanged or with the cheapest plan.
struct GpuAnswer {
  collector::GpuModel gpu;
  plan::Answer plans;
};

std::string PlanText(const PlanSubject& subject, const PlanAnswer& answer, const Terminal& terminal);
std::string PlanJson(const PlanSubject& subject, const PlanAnswer& answer);

std::string LargestBatchText(const PlanSubject& subject, const plan::LargestBatches& answer,
                             const Terminal& terminal);
std::string LargestBatchJson(const PlanSubject& subject, const plan::LargestBatches& answer);

std::string SmallestGpuText(const PlanSubject& subject, const std::vector<GpuAnswer>& answers,
                            const Terminal& terminal);
std::string SmallestGpuJson(const PlanSubject& subject, const std::vector<GpuAnswer>& answers);

}  // namespace vramscope::cli
