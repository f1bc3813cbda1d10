// SPDX-License-Identifier: Apache-2.0
// Predicts the memory of a changed program from a re-run: PyTorch has run the recorded program with some of
// the changes. The other changes are then applied as transformations to the step of the re-run
// (docs/glossary.md).
//
//   --amp bf16 --checkpoint all      re-run with amp=bf16 ─► its step ─► transformed by checkpoint=all
//                                    ─► prediction for the whole run
#pragma once

#include <string>

#include "profiler/experiment/question.h"
#include "profiler/experiment/variant_step.h"

namespace vramscope::experiment {

// The source of an answer: the recording, a re-run, or a transformation of the recorded or the re-run step.
enum class AnswerKind : uint8_t { kRecorded, kRerun, kTransformed };
[[nodiscard]] const char* NameOf(AnswerKind kind);  // "recorded", "re-run", "transformed"

// `variant`: the re-run with the changes `parts.rerun`. `parts.transformed`: the changes to apply to its
// step. `recorded`: the unchanged run. The prediction lists the changes of `parts.rerun` first. If
// `over_step` is not nullptr, it gets the memory use over the step (whatif::ReplayScene).
[[nodiscard]] Result<whatif::Prediction> AnswerFrom(const VariantStep& variant,
                                                    const whatif::Baseline& recorded, const Question& parts,
                                                    whatif::UseOverStep* over_step = nullptr);

// The difference between a re-run of the unchanged program and the recorded step.
struct Drift {
  std::string sentence;  // describes the difference, without a period; "" if it is at most 1 %
  bool too_far = false;  // true if the difference is more than 5 %; re-runs are then not used
};
[[nodiscard]] Drift DriftOf(const whatif::Baseline& recorded, const VariantStep& unchanged);

}  // namespace vramscope::experiment
