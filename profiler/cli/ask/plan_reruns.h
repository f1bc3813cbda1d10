// SPDX-License-Identifier: Apache-2.0
// Re-runs the program of a trace for `vramscope plan`, with the changes of each candidate plan.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/cli/ask/plan_verify.h"
#include "profiler/experiment/answerer.h"
#include "profiler/plan/reruns.h"

namespace vramscope::cli {

using experiment::AnswerOptions;
using experiment::RecordedStep;
using experiment::WhatifAnswerer;

class ProgramReruns final : public plan::Reruns {
 public:
  // `recorded` must outlive this object. `path` is the file of the trace.
  ProgramReruns(const RecordedStep& recorded, std::string path, AnswerOptions options);

  // True if the trace has a program to run.
  [[nodiscard]] bool HasProgram() const { return program_ && program_->head.has_body; }

  Result<uint64_t> BatchSize() override;
  void Prepare(std::span<const plan::Changes> wanted) override;
  Result<whatif::Prediction> Predict(std::span<const whatif::Asked> changes) override;

  // Runs the program once for each element of `wanted`, with all changes of that element.
  std::vector<Verified> Verify(std::span<const plan::Changes> wanted);

 private:
  std::optional<experiment::NotedProgram> program_;
  WhatifAnswerer answerer_;
};

}  // namespace vramscope::cli
