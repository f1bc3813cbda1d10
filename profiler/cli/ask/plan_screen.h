// SPDX-License-Identifier: Apache-2.0
// Plans as text and as JSON (docs/json.md).
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
  std::map<std::string, Verified> verified;                  // for plans that were run, by plan::TextOf
  std::vector<std::pair<plan::Changes, Verified>> left_out;  // plans that measured too large, or failed
  std::string verified_on;                                   // GPU of the verification: "a100-80gb"
  bool rerun = false;                                        // verified by re-runs of the recorded program
  std::string why_not_rerun;

  [[nodiscard]] const Verified* VerifiedOf(const plan::Plan& plan) const;
};

// A GPU model of the table on which the program fits, unchanged or with the cheapest plan.
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
