// SPDX-License-Identifier: Apache-2.0
// Answers what-if questions about one trace: from a stored re-run, a new re-run, or a transformation.
//
//   question ─► split ─┬─ nothing for PyTorch ───────────────────────────► the recorded step, levers applied
//                      └─ amp, batch, ... ─► variant kept? ─ no ─► run ─► the variant's step, levers applied
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/experiment/answer.h"
#include "profiler/experiment/program_rerun.h"
#include "profiler/experiment/recorded_step.h"

namespace vramscope::experiment {

// One set of changes. `title`: the form in which it was requested.
struct WhatifQuestion {
  std::string title;
  std::vector<whatif::Asked> asked;
};

// The answer to a WhatifQuestion.
struct WhatifCase {
  std::string title;
  whatif::Prediction prediction;
  AnswerKind kind = AnswerKind::kTransformed;
  size_t rerun_levers = 0;         // number of levers that PyTorch ran with; they come first
  bool was_kept = false;           // the re-run comes from an earlier command
  std::string gpu;                 // of the re-run; "" = no re-run
  std::vector<std::string> notes;  // additional facts for the reader
};

// --by: who answers questions that only PyTorch can answer.
enum class WhoAnswers { kAuto, kRerun, kTransform };

struct AnswerOptions {
  WhoAnswers by = WhoAnswers::kAuto;
  bool everything = false;  // re-run every change that PyTorch can make, not only the necessary ones
  std::string gpu;          // "" = the trace's GPU
  std::chrono::seconds limit{300};
  bool quiet = false;  // no messages about re-runs
  report::Request device;
  std::function<void(const std::string&)> say;  // shows a message to the user now; may be empty
};

class WhatifAnswerer {
 public:
  // `recorded` (the step of the trace at `path`) must outlive this object.
  WhatifAnswerer(const RecordedStep& recorded, std::string path, AnswerOptions options);

  // Performs all re-runs that these questions need and that are not kept, at once. Each Answer() is then
  // fast.
  void Prepare(std::span<const WhatifQuestion> questions);
  // The error is a sentence without the file's name: no answer is possible.
  Result<WhatifCase> Answer(const WhatifQuestion& question);

 private:
  struct Variant {
    std::unique_ptr<VariantStep> step;
    bool was_kept = false;
  };

  Result<WhatifCase> Transform(const WhatifQuestion& question);
  Result<WhatifCase> Rerun(const WhatifQuestion& question, const Question& parts);
  // The change as a transformation computes it, with its cost and the lines of code. A re-run computes only
  // the lines. nullopt if a transformation cannot make the change.
  std::optional<whatif::Applied> AsTransformed(const whatif::Asked& asked);
  // Which part is re-run, and which is transformed.
  [[nodiscard]] Question PartsOf(const WhatifQuestion& question) const;
  // The variant for these changes: kept, or from a new run.
  Result<const Variant*> Get(const Changes& changes);
  Result<std::string> KeyOf(const Changes& changes);
  // True if variants_ has this variant, or the reason why there is none. Loads a kept variant if needed.
  bool IsReady(const Changes& changes, const std::string& key);
  void MakeReady(std::span<const Changes> wanted);
  void SayWhatRuns(std::span<const Changes> missing) const;
  Result<Variant> Adopt(const Changes& changes, Result<trace::Bytes> made);
  Result<Variant> Load(trace::Bytes bytes) const;
  // Why the program may not or cannot be run; "" = it can.
  [[nodiscard]] std::string WhyNotRun(const Changes& changes) const;
  [[nodiscard]] std::string TryLine(const Changes& changes) const;
  Drift MeasureDrift();

  const RecordedStep& recorded_;
  std::string path_;
  AnswerOptions options_;
  whatif::Predictor predictor_;
  std::optional<NotedProgram> program_;
  std::optional<Result<RerunSetting>> setting_;
  std::map<std::string, Result<Variant>> variants_;  // by key; an error: why there is none
  std::optional<Drift> drift_;
};

}  // namespace vramscope::experiment
