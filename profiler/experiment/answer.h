// SPDX-License-Identifier: Apache-2.0
// An answer from a re-run: what the program takes under changes that PyTorch made, and under further ones
// that are computed on that run's step.
//
//   --amp bf16 --checkpoint all      the variant "amp=bf16" ─► its step, checkpointed ─► the whole run
//
// Why here: the command answers so, and the viewer and reports from what was kept; their figures must be the
// same.
#pragma once

#include <string>

#include "profiler/experiment/question.h"
#include "profiler/experiment/variant_step.h"

namespace vramscope::experiment {

// Where an answer comes from: the recording itself, PyTorch that ran the noted program again, or a
// computation on the step of one of the two.
enum class AnswerKind : uint8_t { kRecorded, kRerun, kTransformed };
[[nodiscard]] const char* NameOf(AnswerKind kind);  // "recorded", "re-run", "transformed"

// `variant` was run with `parts.rerun`, which are the first levers of the answer; `recorded` is of the trace.
// `over_step`: as whatif::ReplayScene fills it.
[[nodiscard]] Result<whatif::Prediction> AnswerFrom(const VariantStep& variant,
                                                    const whatif::Baseline& recorded, const Question& parts,
                                                    whatif::UseOverStep* over_step = nullptr);

// How far the unchanged program, run again, is from the recorded step.
struct Drift {
  std::string sentence;  // without its point; "" = within 1 %
  bool too_far = false;  // more than 5 %: it is not the recorded program, and answers nothing
};
[[nodiscard]] Drift DriftOf(const whatif::Baseline& recorded, const VariantStep& unchanged);

}  // namespace vramscope::experiment
