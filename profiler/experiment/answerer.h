// SPDX-License-Identifier: Apache-2.0
// Answers what-if questions about one trace: from a variant, a new re-run, or a transformation.
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

// One set of changes. `title`: as requested.
struct WhatifQuestion {
  std::string title;
  std::vector<whatif::Asked> asked;
};

struct WhatifCase {
  std::string title;
  whatif::Prediction prediction;
  AnswerKind kind = AnswerKind::kTransformed;
  size_t rerun_levers = 0;         // number of levers of the re-run; they come first
  bool was_kept = false;           // from an earlier command
  std::string gpu;                 // of the re-run; "" = none
  std::vector<std::string> notes;  // for the reader
};

// --by: how questions are answered.
enum class WhoAnswers { kAuto, kRerun, kTransform };

struct AnswerOptions {
  WhoAnswers by = WhoAnswers::kAuto;
  bool everything = false;  // re-run every change that PyTorch can make
  std::string gpu;          // "" = the trace's GPU
  std::chrono::seconds limit{300};
  bool quiet = false;  // no messages about re-runs
  report::Request device;
  std::function<void(const std::string&)> say;  // shows a message at once; may be empty
};

class WhatifAnswerer {
 public:
  // `recorded` must outlive this object. `path`: the trace.
  WhatifAnswerer(const RecordedStep& recorded, std::string path, AnswerOptions options);

  // Performs all missing re-runs of these questions at once. Each Answer() is then fast.
  void Prepare(std::span<const WhatifQuestion> questions);
  // An error, without the file's name, if no answer is possible.
  Result<WhatifCase> Answer(const WhatifQuestion& question);

 private:
  struct Variant {
    std::unique_ptr<VariantStep> step;
    bool was_kept = false;
  };

  Result<WhatifCase> Transform(const WhatifQuestion& question);
  Result<WhatifCase> Rerun(const WhatifQuestion& question, const Question& parts);
  // The change as a transformation computes it, with its cost and the lines of code, of which a re-run
  // computes only the lines. nullopt if a transformation cannot make the change.
  std::optional<whatif::Applied> AsTransformed(const whatif::Asked& asked);
  [[nodiscard]] Question PartsOf(const WhatifQuestion& question) const;
  Result<const Variant*> Get(const Changes& changes);
  Result<std::string> KeyOf(const Changes& changes);
  // True if variants_ has this variant, or the reason why there is none.
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
