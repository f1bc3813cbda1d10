// SPDX-License-Identifier: Apache-2.0
// Predicts the memory of a step with changes (levers, docs/glossary.md). The answer has the peak before and
// after the changes, and which changes were applied or refused.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/whatif/answer/nested_tensors.h"
#include "profiler/whatif/answer/published_errors.h"
#include "profiler/whatif/answer/rest_of_run.h"
#include "profiler/whatif/scene/lever.h"

namespace vramscope::whatif {

// A requested change: "amp", "bf16".
struct Asked {
  std::string lever;
  std::string value;
};

struct Use {
  Peak peak;           // peak of the live bytes in the step; each request is rounded up to 512 bytes
  Replayed allocator;  // PyTorch's counters for the whole run
  // Where the peak of the run is, if it is outside the step: "step 5", "evaluation after step 6"
  // (rest_of_run.h).
  std::string place;
};

// A change that was applied, and what it does.
struct Applied {
  Asked asked;
  Outcome outcome;
};

struct Refused {
  Asked asked;
  std::string reason;
};

struct Prediction {
  Use before;
  Use after;
  std::vector<Applied> levers;
  std::vector<Refused> refused;  // changes that were not applied; `after` is without them
  ErrorBand band;                // error band of `after`
};

// The memory use of the unchanged program. It is computed once and used for all predictions.
struct Baseline {
  Scene scene;
  Use use;
  Replayed step;                    // counters for the step alone
  RestOfRun rest;                   // memory use at other moments of the run
  uint64_t recorded_allocated = 0;  // recorded peak of allocated bytes in the step; a check of the model
};

// `analysis` must outlive the baseline.
[[nodiscard]] Result<Baseline> MakeBaseline(const Step& step, const classify::Analysis& analysis);

// A scene to which changes have been applied. Its peak is not computed yet.
struct Changed {
  Scene scene;
  const Step* step = nullptr;  // the step of `scene`: the recorded one, or one that a lever has rewritten
  std::vector<Applied> levers;
  std::vector<Refused> refused;
};

// Predicts changes of one step by transformations. Refuses changes that need a re-run. Step and baseline must
// outlive the predictor.
//
// If all changes are allocator settings, the prediction is a replay of the whole recorded run (whole_run.h).
// `before` and `after` then contain PyTorch's counters for the whole run.
class Predictor {
 public:
  // If the run has more than `most_changes` allocations and frees, a change of allocator settings is also
  // predicted from the step. A replay of the whole run takes about 0.1 s per million allocations and frees.
  static constexpr size_t kAnyRun = SIZE_MAX;
  static constexpr size_t kShortRun = 1'000'000;
  Predictor(const Step& step, const Baseline& baseline, size_t most_changes = kShortRun)
      : step_(step), baseline_(baseline), most_changes_(most_changes), nested_(HasNestedTensors(step)) {}

  // Applies the changes, in the order of LeverTable().
  [[nodiscard]] Changed Change(std::vector<Asked> asked);
  // Computes the peak and the allocator's counters of the changed program. Returns an error only if the
  // allocator settings cannot be modeled. ReplayScene() explains `over_step` and `most_reserved`.
  [[nodiscard]] Result<Prediction> Judge(Changed changed, UseOverStep* over_step = nullptr,
                                         uint64_t most_reserved = UINT64_MAX) const;
  [[nodiscard]] Result<Prediction> Predict(std::vector<Asked> asked, UseOverStep* over_step = nullptr) {
    return Judge(Change(std::move(asked)), over_step);
  }

  [[nodiscard]] const Step& step() const { return step_; }
  [[nodiscard]] const Baseline& baseline() const { return baseline_; }

 private:
  struct Rewritten {
    Step step;
    Scene scene;
  };
  struct BeforeAndAfter {
    Replayed before, after;
  };
  std::optional<Result<BeforeAndAfter>> OfWholeRun(const Changed& changed) const;
  // Returns the step as the lever rewrites it; nullopt if the lever does not rewrite the step. Each value is
  // computed once.
  std::optional<Result<const Rewritten*>> Rewrite(const Lever& lever, const std::string& value);

  const Step& step_;
  const Baseline& baseline_;
  size_t most_changes_;
  bool nested_;
  std::map<std::string, std::unique_ptr<Rewritten>> rewritten_;  // key: "lever=value"
};

[[nodiscard]] Result<Prediction> Predict(const Step& step, const Baseline& baseline, std::vector<Asked> asked,
                                         UseOverStep* over_step = nullptr);

}  // namespace vramscope::whatif
