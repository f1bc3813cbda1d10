// SPDX-License-Identifier: Apache-2.0
// An answer from a re-run. PyTorch has run the program with some of the changes. The other changes are
// computed on the step that the re-run recorded.
//
//   --amp bf16 --checkpoint all      the variant "amp=bf16" ─► its step, checkpointed ─► the whole run
//
// Why here: the command uses new re-runs; the viewer and the reports use re-runs that the trace stores. Their
// figures must be the same.
#pragma once

#include <string>

#include "profiler/experiment/question.h"
#include "profiler/experiment/variant_step.h"

namespace vramscope::experiment {

// The source of an answer: the recording itself, a re-run of the recorded program in PyTorch, or a
// computation on the step of one of the two.
enum class AnswerKind : uint8_t { kRecorded, kRerun, kTransformed };
[[nodiscard]] const char* NameOf(AnswerKind kind);  // "recorded", "re-run", "transformed"

// `variant` is the re-run with the changes `parts.rerun`. The answer lists them before `parts.transformed`.
// `recorded` is the baseline of the unchanged recording. `over_step`: as in whatif::ReplayScene.
[[nodiscard]] Result<whatif::Prediction> AnswerFrom(const VariantStep& variant,
                                                    const whatif::Baseline& recorded, const Question& parts,
                                                    whatif::UseOverStep* over_step = nullptr);

// How far a re-run of the unchanged program is from the recorded step.
struct Drift {
  std::string sentence;  // without its period; "" = within 1 %
  bool too_far = false;  // more than 5 %: it is not the recorded program, so its re-runs are not used
};
[[nodiscard]] Drift DriftOf(const whatif::Baseline& recorded, const VariantStep& unchanged);

}  // namespace vramscope::experiment
