// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/answer/predict.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "profiler/timeline/curve.h"
#include "profiler/whatif/answer/whole_run.h"
#include "profiler/whatif/scene/invariants.h"

namespace vramscope::whatif {
namespace {

Result<Use> UseOf(const Step& step, const Scene& scene, UseOverStep* over_step = nullptr,
                  uint64_t most_reserved = UINT64_MAX) {
  const Replayed replayed = VRAMSCOPE_TRY(ReplayScene(scene, step, over_step, most_reserved));
  return Use{PeakOf(scene), replayed, ""};
}

// The cost of an emptied cache is visible only in the replay.
void TellEmptyCacheTime(const Replayed& replayed, Outcome& outcome) {
  constexpr double kCallNs = 500'000;
  outcome.extra_ns = kCallNs * static_cast<double>(replayed.driver_calls);
  outcome.time_basis = std::to_string(replayed.driver_calls) +
                       " calls a step that allocate or release a segment, at 0.5 ms each "
                       "(assumed, not measured)";
}

// A note on blocks that pile up: the replay keeps all of them, a garbage collector frees some.
void TellPilingUp(const Step& step, Outcome& outcome) {
  size_t count = 0;
  uint64_t bytes = 0;
  for (const StepBlock& block : step.blocks)
    if (block.piles_up) ++count, bytes += block.requested;
  if (count == 0) return;
  outcome.notes.push_back("each step leaves " + std::to_string(count) + (count == 1 ? " block" : " blocks") +
                          " of " + std::to_string(bytes) +
                          " bytes together that nothing frees: they are in a list, or in reference cycles "
                          "that Python's garbage collector frees when it runs");
}

// Extends `use` of one step to the whole run. `scene`: the step after the change.
void BoundByRun(const Baseline& baseline, const Scene& scene, Use& use) {
  WholeUse whole = UseOfRun(baseline.rest, baseline.step, baseline.scene, use.allocator, scene);
  use.allocator = whole.allocator;
  use.place = std::move(whole.place);
}

size_t PlaceOf(std::string_view name) {
  const LeverInfo* const row = FindLeverInfo(name);
  return static_cast<size_t>((row == nullptr ? LeverTable().data() + LeverTable().size() : row) -
                             LeverTable().data());
}

// In checked builds, a lever that breaks an invariant ends the program, and the message names the lever.
void MustHold([[maybe_unused]] const Asked& asked, [[maybe_unused]] const Step& step,
              [[maybe_unused]] const Scene& scene) {
#ifndef NDEBUG
  std::string broken = WhyBroken(step);
  if (broken.empty()) broken = WhyBroken(step, scene);
  if (broken.empty()) return;
  std::fprintf(stderr, "--%s %s broke the step: %s.\n", asked.lever.c_str(), asked.value.c_str(),
               broken.c_str());
  std::abort();
#endif
}

// Returns one sentence, or "" if the lever can answer the question.
std::string WhyNotAsked(const Asked& question, const Step& step, bool nested) {
  if (FindLeverInfo(question.lever) == nullptr)
    return "there is no such change; vramscope whatif --list shows all.";
  if (AnsweredHow(question.lever, question.value) == AnsweredBy::kRerun)
    return WhyRerun(question.lever, question.value);
  const Lever* const lever = FindLever(question.lever);
  if (step.OnlyForward() && !lever->ChangesForward())
    return "this changes training, but the recorded program only runs its model forward.";
  return nested ? WhyNotOfNested(question.lever, question.value) : "";
}

}  // namespace

std::span<const Lever* const> Levers() {
  static const std::array kLevers = {&ShardLever(),    &CheckpointLever(),        &FreeEarlyLever(),
                                     &OffloadLever(),  &AccumulateLever(),        &OptimizerLever(),
                                     &ZeroGradLever(), &AllocatorSettingsLever(), &EmptyCacheLever()};
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
  baseline.scene = MakeScene(step);
  const Use use = VRAMSCOPE_TRY(UseOf(step, baseline.scene));
  baseline.use = use;
  baseline.step = use.allocator;
  baseline.rest = RestOf(step, analysis);
  BoundByRun(baseline, baseline.scene, baseline.use);
  const timeline::DeviceCurve curve(analysis.run(), step.device);
  const model::EventIndex end = step.first_event + static_cast<model::EventIndex>(step.length);
  baseline.recorded_allocated = curve.PeakWithin(step.first_event, end).bytes;
  return baseline;
}

std::optional<Result<const Predictor::Rewritten*>> Predictor::Rewrite(const Lever& lever,
                                                                      const std::string& value) {
  const std::string key = std::string(lever.info().name) + "=" + value;
  if (const auto found = rewritten_.find(key); found != rewritten_.end()) return found->second.get();
  std::optional<Result<Step>> made = lever.Rewrite(step_, value);
  if (!made) return std::nullopt;
  if (!made->ok()) return made->error();
  auto kept = std::make_unique<Rewritten>();
  kept->step = std::move(*made).value();
  kept->scene = MakeScene(kept->step);
  return rewritten_.emplace(key, std::move(kept)).first->second.get();
}

Changed Predictor::Change(std::vector<Asked> asked) {
  std::stable_sort(asked.begin(), asked.end(),
                   [](const Asked& a, const Asked& b) { return PlaceOf(a.lever) < PlaceOf(b.lever); });
  Changed changed;
  changed.scene = baseline_.scene;
  changed.step = &step_;
  for (Asked& question : asked) {
    const auto refuse = [&](std::string why) {
      changed.refused.push_back({std::move(question), std::move(why)});
    };
    if (std::string why = WhyNotAsked(question, step_, nested_); !why.empty()) {
      refuse(std::move(why));
      continue;
    }
    const Lever& lever = *FindLever(question.lever);
    const Step* step = changed.step;
    Scene scene = changed.scene;
    // Levers that rewrite the step come first: none has changed the scene before them.
    if (const auto rewritten = Rewrite(lever, question.value)) {
      if (changed.step != &step_) {
        refuse("it is given twice; keep one.");
        continue;
      }
      if (!rewritten->ok()) {
        refuse(rewritten->error().sentence);
        continue;
      }
      step = &(**rewritten)->step;
      scene = (**rewritten)->scene;
    }
    Result<Outcome> outcome = lever.Apply(*step, question.value, scene);
    if (!outcome.ok()) {
      refuse(outcome.error().sentence);
      continue;
    }
    MustHold(question, *step, scene);
    changed.scene = std::move(scene);
    changed.step = step;
    changed.levers.push_back({std::move(question), std::move(outcome).value()});
  }
  return changed;
}

// Returns nothing if a lever changes what is allocated, or if the run is not exact.
std::optional<Result<Predictor::BeforeAndAfter>> Predictor::OfWholeRun(const Changed& changed) const {
  EmptyCacheAt where = EmptyCacheAt::kNever;
  for (const Applied& lever : changed.levers) {
    if (lever.asked.lever == EmptyCacheLever().info().name)
      where = *ParseEmptyCacheAt(lever.asked.value);
    else if (lever.asked.lever != AllocatorSettingsLever().info().name)
      return std::nullopt;
  }
  if (changed.levers.empty() || step_.run == nullptr) return std::nullopt;
  if (step_.run->devices[step_.device].changes.size() > most_changes_) return std::nullopt;
  const WholeRun& run = step_.whole_run.Get([&] { return WholeRun(step_); });
  if (!run.exact()) return std::nullopt;
  const Replayed after = VRAMSCOPE_TRY(run.Replay(changed.scene.settings, where));
  return BeforeAndAfter{run.recorded(), after};
}

Result<Prediction> Predictor::Judge(Changed changed, UseOverStep* over_step, uint64_t most_reserved) const {
  const auto whole = OfWholeRun(changed);
  if (whole && !whole->ok()) return whole->error();
  Use after = VRAMSCOPE_TRY(whole && over_step == nullptr
                                ? Result<Use>(baseline_.use)
                                : UseOf(*changed.step, changed.scene, over_step, most_reserved));
  Prediction prediction;
  prediction.before = baseline_.use;
  if (whole) {
    prediction.before.allocator = (*whole)->before;
    after.allocator = (*whole)->after;
  } else {
    BoundByRun(baseline_, changed.scene, after);
  }
  prediction.after = after;
  std::vector<std::string> applied;
  for (Applied& lever : changed.levers) {
    if (lever.asked.lever == EmptyCacheLever().info().name)
      TellEmptyCacheTime(after.allocator, lever.outcome);
  }
  for (const Applied& lever : changed.levers) applied.push_back(lever.asked.lever + "=" + lever.asked.value);
  if (!changed.levers.empty()) TellPilingUp(step_, changed.levers.front().outcome);
  prediction.band = BandOf(applied);
  prediction.levers = std::move(changed.levers);
  prediction.refused = std::move(changed.refused);
  return prediction;
}

Result<Prediction> Predict(const Step& step, const Baseline& baseline, std::vector<Asked> asked,
                           UseOverStep* over_step) {
  return Predictor(step, baseline).Predict(std::move(asked), over_step);
}

}  // namespace vramscope::whatif
