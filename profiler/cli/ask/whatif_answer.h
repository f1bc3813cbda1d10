// SPDX-License-Identifier: Apache-2.0
// Answers what-if questions about one trace, each in the way that it can be: recorded, re-run or transformed.
//
//   question ─► split ─┬─ nothing for PyTorch ───────────────────────────► the recorded step, levers applied
//                      └─ amp, batch, ... ─► variant kept? ─ no ─► run ─► the variant's step, levers applied
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/cli/ask/program_rerun.h"
#include "profiler/cli/ask/recorded_step.h"
#include "profiler/cli/ask/whatif_screen.h"
#include "profiler/cli/ask/whatif_snapshot.h"
#include "profiler/experiment/answer.h"

namespace vramscope::cli {

// --by: who answers what only PyTorch can say.
enum class WhoAnswers { kAuto, kRerun, kTransform };

struct AnswerOptions {
  WhoAnswers by = WhoAnswers::kAuto;
  bool everything = false;  // all that PyTorch can be given is re-run, not only what it alone can answer
  std::string gpu;          // "" = that of the trace
  std::chrono::seconds limit{300};
  bool quiet = false;
  report::Request device;
};

class WhatifAnswerer {
 public:
  // `recorded`, the step of the trace at `path`, must outlive it.
  WhatifAnswerer(const RecordedStep& recorded, std::string path, AnswerOptions options);

  // Makes all re-runs that these questions need and that are not kept, in one go: each Answer() is quick
  // then.
  void Prepare(std::span<const WhatifQuestion> questions);
  // An error is a sentence without the file's name: nothing can be said.
  Result<WhatifCase> Answer(const WhatifQuestion& question);

 private:
  struct Variant {
    std::unique_ptr<experiment::VariantStep> step;
    bool was_kept = false;
  };

  Result<WhatifCase> Transform(const WhatifQuestion& question);
  Result<WhatifCase> Rerun(const WhatifQuestion& question, const experiment::Question& parts);
  // With the lines to write for it.
  whatif::Applied AppliedByRerun(const whatif::Asked& asked);
  // What of it is re-run, and what transformed.
  [[nodiscard]] experiment::Question PartsOf(const WhatifQuestion& question) const;
  // The variant under these changes: as it was kept, or by a run.
  Result<const Variant*> Get(const Changes& changes);
  Result<std::string> KeyOf(const Changes& changes);
  // Whether variants_ has it, or why there is none; from what is kept if need be.
  bool IsReady(const Changes& changes, const std::string& key);
  void MakeReady(std::span<const Changes> wanted);
  void SayWhatRuns(std::span<const Changes> missing) const;
  Result<Variant> Adopt(const Changes& changes, Result<trace::Bytes> made);
  Result<Variant> Load(trace::Bytes bytes) const;
  // Why the program may not, or cannot, be run; "" = it can.
  [[nodiscard]] std::string WhyNotRun(const Changes& changes) const;
  [[nodiscard]] std::string TryLine(const Changes& changes) const;
  experiment::Drift Drift();

  const RecordedStep& recorded_;
  std::string path_;
  AnswerOptions options_;
  whatif::Predictor predictor_;
  std::optional<experiment::NotedProgram> program_;
  std::optional<Result<RerunSetting>> setting_;
  std::map<std::string, Result<Variant>> variants_;  // by key; an error: why there is none
  std::optional<experiment::Drift> drift_;
};

}  // namespace vramscope::cli
