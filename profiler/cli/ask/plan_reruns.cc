// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/ask/plan_reruns.h"

#include <utility>

namespace vramscope::cli {

using experiment::AnswerKind;
using experiment::WhatifCase;
using experiment::WhatifQuestion;

ProgramReruns::ProgramReruns(const RecordedStep& recorded, std::string path, AnswerOptions options)
    : program_(experiment::ProgramOf(recorded.run.source->programs())),
      answerer_(recorded, std::move(path), std::move(options)) {}

Result<uint64_t> ProgramReruns::BatchSize() {
  if (!program_ || program_->head.batch == 0)
    return Error{"the recorded program has no input that looks like a batch."};
  return program_->head.batch;
}

void ProgramReruns::Prepare(std::span<const plan::Changes> wanted) {
  std::vector<WhatifQuestion> questions;
  for (const plan::Changes& changes : wanted) questions.push_back({"", changes});
  answerer_.Prepare(questions);
}

std::vector<Verified> ProgramReruns::Verify(std::span<const plan::Changes> wanted) {
  Prepare(wanted);
  std::vector<Verified> all;
  for (const plan::Changes& changes : wanted) {
    Verified& verified = all.emplace_back();
    const Result<WhatifCase> answer = answerer_.Answer({"", changes});
    if (!answer.ok()) {
      verified.why_not = answer.error().sentence.substr(0, answer.error().sentence.find_last_not_of('.') + 1);
      continue;
    }
    if (answer->kind != AnswerKind::kRerun) {
      verified.why_not = "one of its changes cannot be re-run, only predicted";
      continue;
    }
    const whatif::Prediction& prediction = answer->prediction;
    verified.allocated_bytes = prediction.after.allocator.allocated_peak;
    verified.reserved_bytes = prediction.after.allocator.reserved_peak;
    verified.at_most_bytes = prediction.band.ReservedAtMost(verified.reserved_bytes);
  }
  return all;
}

Result<whatif::Prediction> ProgramReruns::Predict(std::span<const whatif::Asked> changes) {
  WhatifCase answer = VRAMSCOPE_TRY(answerer_.Answer({"", {changes.begin(), changes.end()}}));
  return std::move(answer.prediction);
}

}  // namespace vramscope::cli
