// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/predict.h"

#include <algorithm>
#include <array>

#include "profiler/timeline/curve.h"

namespace vramscope::whatif {
namespace {

Result<Use> UseOf(const Step& step, const Scene& scene, UseOverStep* over_step = nullptr) {
  const Result<Replayed> replayed = ReplayScene(scene, step, over_step);
  if (!replayed.ok()) return replayed.error();
  return Use{PeakOf(scene), *replayed};
}

size_t PlaceOf(const std::string& name) {
  const std::span<const Lever* const> levers = Levers();
  for (size_t i = 0; i < levers.size(); ++i) {
    if (name == levers[i]->info().name) return i;
  }
  return levers.size();
}

}  // namespace

std::span<const Lever* const> Levers() {
  static const std::array kLevers = {
      &FreezeLever(),    &AmpLever(),        &PrecisionLever(), &ShardLever(),    &CheckpointLever(),
      &BatchLever(),     &AccumulateLever(), &OptimizerLever(), &ZeroGradLever(), &AllocatorSettingsLever(),
      &EmptyCacheLever()};
  return kLevers;
}

const Lever* FindLever(std::string_view name) {
  for (const Lever* lever : Levers()) {
    if (name == lever->info().name) return lever;
  }
  return nullptr;
}

Result<Baseline> MakeBaseline(const Step& step, const classify::Analysis& analysis) {
  Baseline baseline;
  const model::Device& device = step.run->devices[step.device];
  const timeline::Training& training = analysis.training()[device.process];
  baseline.training = &training;
  baseline.scene = MakeScene(step, training);
  const Result<Use> use = UseOf(step, baseline.scene);
  if (!use.ok()) return use.error();
  baseline.use = *use;
  const timeline::Step* const recorded = training.StepNumber(step.number);
  const timeline::DeviceCurve curve(*step.run, step.device);
  baseline.recorded_allocated = curve.PeakWithin(recorded->begin, recorded->end).bytes;
  return baseline;
}

Result<Prediction> Predict(const Step& step, const Baseline& baseline, std::vector<Asked> asked,
                           UseOverStep* over_step) {
  Prediction prediction;
  prediction.before = baseline.use;
  std::stable_sort(asked.begin(), asked.end(),
                   [](const Asked& a, const Asked& b) { return PlaceOf(a.lever) < PlaceOf(b.lever); });
  Scene scene = baseline.scene;
  std::optional<Step> rewritten;
  const Step* current = &step;
  for (Asked& question : asked) {
    const Lever* const lever = FindLever(question.lever);
    if (lever == nullptr) {
      prediction.refused.push_back(
          {std::move(question), "there is no such lever; vramscope whatif --list shows them."});
      continue;
    }
    Scene changed = scene;
    if (std::optional<Result<Step>> made = lever->Rewrite(*current, question.value)) {
      if (!made->ok()) {
        prediction.refused.push_back({std::move(question), made->error().sentence});
        continue;
      }
      rewritten = std::move(*made).value();
      current = &*rewritten;
      changed = MakeScene(*current, *baseline.training);
    }
    Result<Outcome> outcome = lever->Apply(*current, question.value, changed);
    if (!outcome.ok()) {
      prediction.refused.push_back({std::move(question), outcome.error().sentence});
      continue;
    }
    scene = std::move(changed);
    prediction.levers.push_back({std::move(question), std::move(outcome).value()});
  }
  const Result<Use> after = UseOf(*current, scene, over_step);
  if (!after.ok()) return after.error();
  prediction.after = *after;
  std::vector<std::string_view> applied;
  for (const Applied& lever : prediction.levers) applied.emplace_back(lever.asked.lever);
  prediction.band = BandOf(applied);
  return prediction;
}

}  // namespace vramscope::whatif
