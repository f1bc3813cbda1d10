// SPDX-License-Identifier: Apache-2.0
// Plans as text and as JSON (docs/json.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/cli/plan_request.h"
#include "profiler/cli/plan_verify.h"
#include "profiler/cli/terminal.h"
#include "profiler/plan/largest_batch.h"

namespace vramscope::cli {

// What is asked about, and how much of the limit PyTorch's allocator can have.
struct PlanSubject {
  std::string path;
  const RecordedStep* recorded = nullptr;
  std::string limit_name;        // "24.0 GiB", "rtx-4090"
  uint64_t fit_bytes = 0;        // of the device
  std::optional<Beside> beside;  // nothing: the trace does not have it, and it is not counted
  uint64_t beside_bytes = 0;     // on that device
  uint64_t reserved_limit = 0;   // what is left
};

struct PlanAnswer {
  plan::Answer plans;
  std::vector<Verified> verified;  // one for each plan, when that was asked for
  std::string verified_on;         // "a100-80gb"
};

// One model of the table: the program as it is, or with the cheapest plan.
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
