// SPDX-License-Identifier: Apache-2.0
// An answer from a re-run: memory use with the changes that PyTorch made, and with further changes computed
// on the step of that run.
//
//   --amp bf16 --checkpoint all      the variant "amp=bf16" ─► its step, checkpointed ─► the whole run
//
// Why here: the command answers from new re-runs, the viewer and reports from kept ones. Their figures must
// be the same.
#pragma once

#include <string>

#include "profiler/experiment/question.h"
#include "profiler/experiment/variant_step.h"

namespace vramscope::experiment {

// The source of an answer: the recording itself, a re-run of the recorded program in PyTorch, or a
// computation on the step of one of the two.
enum class AnswerKind : uint8_t { kRecorded, kRerun, kTransformed };
[[nodiscard]] const char* NameOf(AnswerKind kind);  // "recorded", "re-run", "transformed"

// `variant` was run with `parts.rerun`, the first levers of the answer. `recorded` belongs to the trace.
// `over_step`: as in whatif::ReplayScene.
[[nodiscard]] Result<whatif::Prediction> AnswerFrom(const VariantStep& variant,
                                                    const whatif::Baseline& recorded, const Question& parts,
                                                    whatif::UseOverStep* over_step = nullptr);

// How far a re-run of the unchanged program is from the recorded step.
struct Drift {
  std::string sentence;  // without its period; "" = within 1 %
  bool too_far = false;  // more than 5 %: it is not the recorded program, so its re-runs answer nothing
};
[[nodiscard]] Drift DriftOf(const whatif::Baseline& recorded, const VariantStep& unchanged);

}  // namespace vramscope::experiment
