// SPDX-License-Identifier: Apache-2.0
// Which changes make the recorded step fit: what `vramscope plan` finds, for the what-if panel, on a thread.
//
// A search takes a second or two, of a large step more; it can be cancelled, and then leaves nothing behind.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/plan/fit_limit.h"
#include "profiler/plan/plan.h"
#include "viewer/model/whatif_question.h"

namespace vramscope::viewer {

struct WhatIfSubject;
class KeptReruns;

// What a person asks the step to fit into.
struct FitInto {
  uint64_t bytes = 0;
  std::optional<collector::GpuModel> gpu;
};
// "24" and "7.5" are GiB; else a size as on the command line, or the name of a GPU.
[[nodiscard]] Result<FitInto> ParseFit(const std::string& text, const std::vector<collector::GpuModel>& gpus);

struct FitAnswer {
  plan::FitLimit limit;
  plan::Answer plans;
  std::vector<WhatIfQuestion> questions;  // what the panel's switches are for each plan

  // When there is no plan: what is missing even with the changes that need least.
  [[nodiscard]] uint64_t shortfall() const;
};

class FitView {
 public:
  FitView() = default;
  FitView(FitView&&) = default;
  FitView& operator=(FitView&&) = default;
  ~FitView() { Cancel(); }  // the future then waits for the thread

  // Looks for plans that fit into `into`; a search that runs is cancelled. The subject must outlive it, or
  // the next Clear. Re-runs that were kept are plans too;
  // nullptr: there are none. `wake` when there is an answer.
  void Start(const WhatIfSubject& subject, std::shared_ptr<const KeptReruns> reruns,
             const std::function<void()>& wake);
  // The search ends soon and has no answer.
  void Cancel();
  // Cancels and waits; forgets the answer, not what was asked.
  void Clear();
  // Takes an answer that has come.
  void Update();

  [[nodiscard]] bool busy() const { return running_.valid(); }
  [[nodiscard]] bool cancelled() const { return stop_ != nullptr && stop_->load(); }
  [[nodiscard]] const std::optional<Result<FitAnswer>>& answer() const { return answer_; }
  // Read when it is first asked for; an error says why there is none, and then only sizes can be given.
  [[nodiscard]] const Result<std::vector<collector::GpuModel>>& gpus();
  // As a JSON object, for scripts.
  [[nodiscard]] std::string ToJson() const;

  std::string into;  // what it is to fit into, as it was typed

 private:
  std::optional<Result<std::vector<collector::GpuModel>>> gpus_;
  std::optional<Result<FitAnswer>> answer_;
  std::shared_ptr<std::atomic<bool>> stop_;  // of the search that was begun last
  std::future<Result<FitAnswer>> running_;
};

}  // namespace vramscope::viewer
