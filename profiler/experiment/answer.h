// SPDX-License-Identifier: Apache-2.0
// An answer from a re-run. PyTorch has run the program with some of the changes. The other changes are
// computed on the step of the re-run.
//
//   --amp bf16 --checkpoint all      the variant "amp=bf16" ─► its step, checkpointed ─► the whole run
#pragma once

#include <string>

#include "profiler/experiment/question.h"
#include "profiler/experiment/variant_step.h"

namespace vramscope::experiment {

// The source of an answer: the recording, a re-run, or a computation on the step of one of the two.
enum class AnswerKind : uint8_t { kRecorded, kRerun, kTransformed };
[[nodiscard]] const char* NameOf(AnswerKind kind);  // "recorded", "re-run", "transformed"

// `variant`: the re-run with the changes `parts.rerun`. These changes come first in the answer. `recorded`:
// baseline of the recording. `over_step`: as in whatif::ReplayScene.
[[nodiscard]] Result<whatif::Prediction> AnswerFrom(const VariantStep& variant,
                                                    const whatif::Baseline& recorded, const Question& parts,
                                                    whatif::UseOverStep* over_step = nullptr);

// How far a re-run of the unchanged program is from the recorded step.
struct Drift {
  std::string sentence;  // without period; "" = within 1 %
  bool too_far = false;  // more than 5 %: re-runs are not used
};
[[nodiscard]] Drift DriftOf(const whatif::Baseline& recorded, const VariantStep& unchanged);

}  // namespace vramscope::experiment
