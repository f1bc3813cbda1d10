// SPDX-License-Identifier: Apache-2.0
// The answer to a what-if question: which levers were applied or refused, and the peak before and after.
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

struct Asked {
  std::string lever;
  std::string value;
};

struct Use {
  Peak peak;           // of the step: live requests rounded up to 512 bytes
  Replayed allocator;  // PyTorch's counters for the whole run
  // The moment of the peak if outside the step: "step 5", "evaluation after step 6" (rest_of_run.h).
  std::string place;
};

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
  std::vector<Refused> refused;  // `after` is the result of the other levers
  ErrorBand band;                // error band of `after`
};

// The recorded program's own figures, for any number of predictions.
struct Baseline {
  Scene scene;
  Use use;
  Replayed step;                    // use of the step alone
  RestOfRun rest;                   // use at other moments of the run
  uint64_t recorded_allocated = 0;  // highest counter of the recorded step, as a check
};

// The analysis must outlive the baseline.
[[nodiscard]] Result<Baseline> MakeBaseline(const Step& step, const classify::Analysis& analysis);

// The scene with levers applied, before its peak is computed.
struct Changed {
  Scene scene;
  const Step* step = nullptr;  // this scene's step: as recorded, or rewritten by a lever
  std::vector<Applied> levers;
  std::vector<Refused> refused;
};

// Answers questions about one step by transformations. Refuses changes that need a re-run.
//
// A step that a lever rewrites is computed once. Step and baseline must outlive the predictor.
//
// Changes of allocator settings alone are answered from the whole recorded run (whole_run.h). `before` and
// `after` are then PyTorch's counters for the run.
class Predictor {
 public:
  // Runs with more than `most_changes` allocations and frees are answered from the step instead. A run takes
  // about 0.1 s per million of these.
  static constexpr size_t kAnyRun = SIZE_MAX;
  static constexpr size_t kShortRun = 1'000'000;
  Predictor(const Step& step, const Baseline& baseline, size_t most_changes = kShortRun)
      : step_(step), baseline_(baseline), most_changes_(most_changes), nested_(HasNestedTensors(step)) {}

  // Applies levers in the order of LeverTable().
  [[nodiscard]] Changed Change(std::vector<Asked> asked);
  // Computes peak and replay of the changed program. Fails only if the settings cannot be modeled.
  // `over_step`, `most_reserved`: see ReplayScene.
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
  // Nothing if the lever does not rewrite the step. Computed once per value.
  std::optional<Result<const Rewritten*>> Rewrite(const Lever& lever, const std::string& value);

  const Step& step_;
  const Baseline& baseline_;
  size_t most_changes_;
  bool nested_;
  std::map<std::string, std::unique_ptr<Rewritten>> rewritten_;  // by lever and value
};

[[nodiscard]] Result<Prediction> Predict(const Step& step, const Baseline& baseline, std::vector<Asked> asked,
                                         UseOverStep* over_step = nullptr);

}  // namespace vramscope::whatif
