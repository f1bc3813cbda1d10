// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/answer.h"

#include <cmath>
#include <utility>

#include "profiler/text/format.h"
#include "profiler/whatif/scene/code_lines.h"

namespace vramscope::experiment {
namespace {

constexpr double kWorthTelling = 0.01;  // of the recorded step
constexpr double kTooFar = 0.05;

// The use of the whole run. Its peak may lie outside the step, where no change to the step lowers it.
whatif::Use RunOf(const VariantStep& variant, const whatif::Baseline& recorded, whatif::Use use) {
  if (recorded.use.place.empty()) return use;  // the peak is in the step
  whatif::WholeUse whole =
      whatif::UseOfRun(recorded.rest, recorded.step, recorded.scene, use.allocator, variant.baseline.scene);
  use.allocator = whole.allocator;
  use.place = std::move(whole.place);
  return use;
}

}  // namespace

const char* NameOf(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kRecorded:
      return "recorded";
    case AnswerKind::kRerun:
      return "re-run";
    case AnswerKind::kTransformed:
      break;
  }
  return "transformed";
}

Result<whatif::Prediction> AnswerFrom(const VariantStep& variant, const whatif::Baseline& recorded,
                                      const Question& parts, whatif::UseOverStep* over_step) {
  whatif::Prediction prediction;
  if (parts.transformed.empty()) {
    prediction.after = variant.baseline.use;
    prediction.after.place.clear();
    const uint64_t reserved_then = prediction.after.allocator.reserved_then;  // PyTorch has no such counter
    prediction.after.allocator = variant.counters;
    prediction.after.allocator.reserved_then = reserved_then;
    if (over_step != nullptr) {
      VRAMSCOPE_TRY(whatif::ReplayScene(variant.baseline.scene, variant.step, over_step));
    }
  } else {
    whatif::Predictor further(variant.step, variant.baseline, whatif::Predictor::kAnyRun);
    prediction = VRAMSCOPE_TRY(further.Predict(parts.transformed, over_step));
  }
  prediction.after = RunOf(variant, recorded, std::move(prediction.after));
  prediction.before = recorded.use;
  std::vector<whatif::Applied> levers;
  for (const whatif::Asked& asked : parts.rerun)
    levers.push_back({asked, {.code = whatif::CodeLines(asked.lever, asked.value)}});
  prediction.levers.insert(prediction.levers.begin(), levers.begin(), levers.end());
  std::vector<std::string> measured = {std::string(whatif::kReruns)};
  for (const whatif::Asked& asked : parts.transformed) measured.push_back(asked.lever + "=" + asked.value);
  prediction.band = whatif::BandOf(measured);
  return prediction;
}

Drift DriftOf(const whatif::Baseline& recorded, const VariantStep& unchanged) {
  const uint64_t was = recorded.step.allocated_peak;
  const uint64_t is = unchanged.baseline.step.allocated_peak;
  const double share =
      was == 0 ? 0 : (static_cast<double>(is) - static_cast<double>(was)) / static_cast<double>(was);
  if (std::abs(share) <= kWorthTelling) return {};
  return {"the unchanged re-run allocates " + text::FormatBytes(is) + " in a step, the recorded step " +
              text::FormatBytes(was) + ": the answer may be wrong by this difference",
          std::abs(share) > kTooFar};
}

}  // namespace vramscope::experiment
