// SPDX-License-Identifier: Apache-2.0
// The result of `vramscope plan` for the what-if panel: changes with which the step fits into a size.
//
// A thread searches for a second or two, longer for a large step. The search can be canceled.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/plan/fit_limit.h"
#include "profiler/plan/plan.h"
#include "viewer/model/background_task.h"
#include "viewer/model/whatif_question.h"

namespace vramscope::viewer {

struct WhatIfSubject;
class KeptReruns;

// The memory that the user wants the step to fit into.
struct FitInto {
  uint64_t bytes = 0;
  std::optional<collector::GpuModel> gpu;
};
// "24" and "7.5" are GiB; otherwise a size as on the command line, or a GPU's name.
[[nodiscard]] Result<FitInto> ParseFit(const std::string& text, const std::vector<collector::GpuModel>& gpus);

struct FitAnswer {
  plan::FitLimit limit;
  plan::Answer plans;
  std::vector<WhatIfQuestion> questions;  // the panel's switches for each plan

  // If no plan fits: the bytes still missing with the changes that need the least memory.
  [[nodiscard]] uint64_t shortfall() const;
};

class FitView {
 public:
  // Searches for plans; cancels a running search. The subject must live until the search has ended (see
  // Clear). Plans may include kept re-runs; nullptr: none. Calls `wake` when there is an answer.
  void Start(const WhatIfSubject& subject, std::shared_ptr<const KeptReruns> reruns,
             const std::function<void()>& wake);
  // Ends the running search soon, without an answer.
  void Cancel() { searching_.Cancel(); }
  // Cancels and waits. Forgets the answer, but not the question.
  void Clear();
  // Takes a finished answer.
  void Update();

  [[nodiscard]] bool busy() const { return searching_.busy(); }
  [[nodiscard]] bool cancelled() const { return searching_.cancelled(); }
  [[nodiscard]] const std::optional<Result<FitAnswer>>& answer() const { return answer_; }
  // The table of GPU models. Without it, the user can enter only sizes.
  [[nodiscard]] const Result<std::vector<collector::GpuModel>>& gpus();
  // As a JSON object, for scripts.
  [[nodiscard]] std::string ToJson() const;

  std::string into;  // the input as it was typed

 private:
  std::optional<Result<std::vector<collector::GpuModel>>> gpus_;
  std::optional<Result<FitAnswer>> answer_;
  BackgroundTask<FitAnswer> searching_;
};

}  // namespace vramscope::viewer
