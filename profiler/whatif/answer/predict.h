// SPDX-License-Identifier: Apache-2.0
// The answer to a what-if question: which levers were applied or refused, and what the peak was and becomes.
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
  Peak peak;           // of the step: of requests rounded to 512 bytes, and where it is
  Replayed allocator;  // what PyTorch's counters show, of the whole run
  // The moment of the run that decides, where it is not the step: "step 5", "evaluation after step 6"
  // (rest_of_run.h).
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
  std::vector<Refused> refused;  // when there is one, `after` is that of the others
  ErrorBand band;                // of `after`
};

// What is asked once for any number of predictions.
struct Baseline {
  Scene scene;
  Use use;
  Replayed step;                    // what the step alone takes
  RestOfRun rest;                   // what other moments of the run take
  uint64_t recorded_allocated = 0;  // highest counter of the recorded step, to hold the model against
};

// The analysis must outlive the baseline.
[[nodiscard]] Result<Baseline> MakeBaseline(const Step& step, const classify::Analysis& analysis);

// The scene with levers applied, before a peak is looked for.
struct Changed {
  Scene scene;
  const Step* step = nullptr;  // which it is a scene of: as recorded, or as a lever wrote it anew
  std::vector<Applied> levers;
  std::vector<Refused> refused;
};

// Answers any number of questions about one step, by transformations alone: what a re-run answers is refused.
// Why a class: what a lever makes of the whole step, whatever else is asked for (the step of one rank), is
// made once. Step and baseline must outlive it.
//
// Where only the allocator is told something else, the whole recorded run is the witness (whole_run.h), not
// the step: `before` and `after` are then PyTorch's counters of the run.
class Predictor {
 public:
  // Runs with more allocations and frees than `most_changes` are answered from the step: each question to
  // the run takes about 0.1 s for a million.
  static constexpr size_t kAnyRun = SIZE_MAX;
  static constexpr size_t kShortRun = 1'000'000;
  Predictor(const Step& step, const Baseline& baseline, size_t most_changes = kShortRun)
      : step_(step), baseline_(baseline), most_changes_(most_changes), nested_(HasNestedTensors(step)) {}

  // Levers are applied in the order of the table.
  [[nodiscard]] Changed Change(std::vector<Asked> asked);
  // Its peak and its replay. An error only when the settings cannot be modelled. `over_step`,
  // `most_reserved`: as ReplayScene fills it, of the changed program.
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
  // Nothing: the lever rewrites no step. Made once for each lever and value.
  std::optional<Result<const Rewritten*>> Rewrite(const Lever& lever, const std::string& value);

  const Step& step_;
  const Baseline& baseline_;
  size_t most_changes_;
  bool nested_;
  std::map<std::string, std::unique_ptr<Rewritten>> rewritten_;  // by lever and value
};

// One question.
[[nodiscard]] Result<Prediction> Predict(const Step& step, const Baseline& baseline, std::vector<Asked> asked,
                                         UseOverStep* over_step = nullptr);

}  // namespace vramscope::whatif
