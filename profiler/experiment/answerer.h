// SPDX-License-Identifier: Apache-2.0
// Answers what-if questions about one trace. An answer comes from a stored variant, from a new re-run, or
// from a transformation (docs/glossary.md).
//
//   question ─► split ─┬─ no change needs PyTorch ───────────────────────► apply levers to the recorded step
//                      └─ amp, batch, ... ─► stored variant? no: re-run ─► apply levers to the variant's step
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

// One set of changes. `title` is the text of the user's request.
struct WhatifQuestion {
  std::string title;
  std::vector<whatif::Asked> asked;
};

struct WhatifCase {
  std::string title;
  whatif::Prediction prediction;
  AnswerKind kind = AnswerKind::kTransformed;
  // Number of changes that the re-run made; they come first in `prediction.levers`.
  size_t rerun_levers = 0;
  bool was_kept = false;           // the variant was stored by an earlier command
  std::string gpu;                 // GPU model of the re-run; "" = no re-run
  std::vector<std::string> notes;  // sentences for the user
};

// The option --by, which selects how questions are answered.
enum class WhoAnswers { kAuto, kRerun, kTransform };

struct AnswerOptions {
  WhoAnswers by = WhoAnswers::kAuto;
  bool everything = false;  // re-run every change that PyTorch can make
  std::string gpu;          // GPU model for re-runs; "" = the trace's GPU
  std::chrono::seconds limit{300};
  bool quiet = false;  // true: print no messages about re-runs
  report::Request device;
  std::function<void(const std::string&)> say;  // prints a message immediately; may be empty
};

class WhatifAnswerer {
 public:
  // `recorded` must outlive this object. `path` is the path of the trace.
  WhatifAnswerer(const RecordedStep& recorded, std::string path, AnswerOptions options);

  // Performs all missing re-runs of these questions together. Afterwards, Answer() is fast for each of them.
  void Prepare(std::span<const WhatifQuestion> questions);
  // Returns an error if no answer is possible. The error does not contain the file's name.
  Result<WhatifCase> Answer(const WhatifQuestion& question);

 private:
  struct Variant {
    std::unique_ptr<VariantStep> step;
    bool was_kept = false;
  };

  Result<WhatifCase> Transform(const WhatifQuestion& question);
  Result<WhatifCase> Rerun(const WhatifQuestion& question, const Question& parts);
  // Computes the change as a transformation, to get its cost and all lines of code to write. A re-run
  // computes only a part of the lines. Returns nullopt if there is no transformation for the change.
  std::optional<whatif::Applied> AsTransformed(const whatif::Asked& asked);
  [[nodiscard]] Question PartsOf(const WhatifQuestion& question) const;
  Result<const Variant*> Get(const Changes& changes);
  Result<std::string> KeyOf(const Changes& changes);
  // True if variants_ contains this variant, or contains the reason why it cannot be made.
  bool IsReady(const Changes& changes, const std::string& key);
  void MakeReady(std::span<const Changes> wanted);
  void SayWhatRuns(std::span<const Changes> missing) const;
  Result<Variant> Adopt(const Changes& changes, Result<trace::Bytes> made);
  Result<Variant> Load(trace::Bytes bytes) const;
  // Returns the reason why the program may not or cannot be re-run, or "" if it can.
  [[nodiscard]] std::string WhyNotRun(const Changes& changes) const;
  [[nodiscard]] std::string TryLine(const Changes& changes) const;
  Drift MeasureDrift();

  const RecordedStep& recorded_;
  std::string path_;
  AnswerOptions options_;
  whatif::Predictor predictor_;
  std::optional<NotedProgram> program_;
  std::optional<Result<RerunSetting>> setting_;
  // By KeyOf(). An error states why the variant cannot be made.
  std::map<std::string, Result<Variant>> variants_;
  std::optional<Drift> drift_;
};

}  // namespace vramscope::experiment
