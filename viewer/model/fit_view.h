// SPDX-License-Identifier: Apache-2.0
// Searches plans for the what-if panel, like `vramscope plan`: changes with which the step fits into a given
// size.
//
// The search takes a second or two on a background thread, longer for a large step. It can be canceled.
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
// Reads the user's input. "24" and "7.5" are GiB; otherwise, the input is a size as on the command line, or
// the name of a GPU.
[[nodiscard]] Result<FitInto> ParseFit(const std::string& text, const std::vector<collector::GpuModel>& gpus);

struct FitAnswer {
  plan::FitLimit limit;
  plan::Answer plans;
  std::vector<WhatIfQuestion> questions;  // for each plan, the settings of the panel that request its changes

  // Returns how many bytes are missing with the changes that need the least memory; 0 if a plan fits.
  [[nodiscard]] uint64_t shortfall() const;
};

class FitView {
 public:
  // Searches for plans; a running search is canceled. The subject must live until the search has ended (see
  // Clear). `reruns`: stored re-runs that plans may use; nullptr = none. Calls `wake` when the answer is
  // ready.
  void Start(const WhatIfSubject& subject, std::shared_ptr<const KeptReruns> reruns,
             const std::function<void()>& wake);
  // Cancels the running search without waiting. The search then has no answer.
  void Cancel() { searching_.Cancel(); }
  // Cancels the search and waits for its end. Deletes the answer, but keeps the input.
  void Clear();
  // Call once per frame: takes the answer of a finished search.
  void Update();

  [[nodiscard]] bool busy() const { return searching_.busy(); }
  [[nodiscard]] bool cancelled() const { return searching_.cancelled(); }
  [[nodiscard]] const std::optional<Result<FitAnswer>>& answer() const { return answer_; }
  // Returns the table of GPU models. If the table cannot be read, the user can enter only sizes.
  [[nodiscard]] const Result<std::vector<collector::GpuModel>>& gpus();
  // Returns the input and the answer as a JSON object, for scripts.
  [[nodiscard]] std::string ToJson() const;

  std::string into;  // the input as it was typed

 private:
  std::optional<Result<std::vector<collector::GpuModel>>> gpus_;
  std::optional<Result<FitAnswer>> answer_;
  BackgroundTask<FitAnswer> searching_;
};

}  // namespace vramscope::viewer
