// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/answer/predict.h"

#include <algorithm>
#include <array>

#include "profiler/timeline/curve.h"
#include "profiler/whatif/answer/nested_tensors.h"
#include "profiler/whatif/answer/whole_run.h"
#include "profiler/whatif/shard/shard.h"
#include "profiler/whatif/training/cross_entropy.h"

namespace vramscope::whatif {
namespace {

Result<Use> UseOf(const Step& step, const Scene& scene, UseOverStep* over_step = nullptr,
                  uint64_t most_reserved = UINT64_MAX) {
  const Result<Replayed> replayed = ReplayScene(scene, step, over_step, most_reserved);
  if (!replayed.ok()) return replayed.error();
  return Use{PeakOf(scene), *replayed, ""};
}

// What a cache that is emptied costs shows only in the replay.
void TellEmptyCacheTime(const Replayed& replayed, Outcome& outcome) {
  constexpr double kCallNs = 500'000;
  outcome.extra_ns = kCallNs * static_cast<double>(replayed.driver_calls);
  outcome.time_basis =
      std::to_string(replayed.driver_calls) +
      " segments a step that are asked for and given back, at 0.5 ms each (stated, not measured)";
}

// Where the optimizer's step has the peak, fewer samples do not lower it; people expect them to.
void TellWhyBatchSavesNothing(const Use& before, const Use& after, Outcome& outcome) {
  const bool fewer = !outcome.time_basis.empty();  // the same samples take more steps
  if (fewer && !after.place.empty() && after.place == before.place) {
    outcome.notes.push_back("the peak of the run is at another moment than the step: " + after.place);
    return;
  }
  if (!fewer || before.peak.phase != "optimizer" || after.peak.phase != "optimizer") return;
  constexpr uint64_t kLittle = 20;  // 5 %
  const uint64_t was = before.allocator.allocated_peak, is = after.allocator.allocated_peak;
  if (is + was / kLittle < was) return;
  outcome.notes.push_back(std::string("a smaller batch saves ") + (is >= was ? "nothing" : "little") +
                          ", because the peak is in the optimizer's step: parameters, gradients, optimizer "
                          "state and what it computes have the same size with any batch");
}

// Of blocks that pile up, all of which the replay keeps; a garbage collector takes some of them.
void TellPilingUp(const Step& step, Outcome& outcome) {
  size_t count = 0;
  uint64_t bytes = 0;
  for (const StepBlock& block : step.blocks)
    if (block.piles_up) ++count, bytes += block.requested;
  if (count == 0) return;
  outcome.notes.push_back("each step leaves " + std::to_string(count) + (count == 1 ? " block" : " blocks") +
                          " of " + std::to_string(bytes) +
                          " bytes together that nothing frees: a list has them, or reference cycles, which "
                          "Python's garbage collector takes when it runs");
}

// `use` of one step, as `scene` is, becomes that of the whole run.
void BoundByRun(const Baseline& baseline, const Scene& scene, Use& use) {
  WholeUse whole = UseOfRun(baseline.rest, baseline.step, baseline.scene, use.allocator, scene);
  use.allocator = whole.allocator;
  use.place = std::move(whole.place);
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
  static const std::array kLevers = {&SequenceLever(),     &LoraLever(),       &FreezeLever(),
                                     &AmpLever(),          &PrecisionLever(),  &AttentionLever(),
                                     &CrossEntropyLever(), &QuantizeLever(),   &PruneLever(),
                                     &ShardLever(),        &CheckpointLever(), &FreeEarlyLever(),
                                     &OffloadLever(),      &BatchLever(),      &AccumulateLever(),
                                     &OptimizerLever(),    &ZeroGradLever(),   &AllocatorSettingsLever(),
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
  baseline.scene = MakeScene(step);
  const Result<Use> use = UseOf(step, baseline.scene);
  if (!use.ok()) return use.error();
  baseline.use = *use;
  baseline.step = use->allocator;
  baseline.rest = RestOf(step, analysis);
  BoundByRun(baseline, baseline.scene, baseline.use);
  const timeline::DeviceCurve curve(analysis.run(), step.device);
  const model::EventIndex end = step.first_event + static_cast<model::EventIndex>(step.length);
  baseline.recorded_allocated = curve.PeakWithin(step.first_event, end).bytes;
  return baseline;
}

std::optional<Result<const Predictor::Rewritten*>> Predictor::Rewrite(const Lever& lever,
                                                                      const std::string& value,
                                                                      const Step& step, std::string* chain) {
  return Keep(std::string(lever.info().name) + "=" + value + " ", chain,
              [&] { return lever.Rewrite(step, value); });
}

std::optional<Result<const Predictor::Rewritten*>> Predictor::Keep(
    const std::string& link, std::string* chain, const std::function<std::optional<Result<Step>>()>& make) {
  const std::string key = *chain + link;
  if (const auto found = rewritten_.find(key); found != rewritten_.end()) {
    *chain = key;
    return found->second.get();
  }
  std::optional<Result<Step>> made = make();
  if (!made) return std::nullopt;
  if (!made->ok()) return made->error();
  auto kept = std::make_unique<Rewritten>();
  kept->step = std::move(*made).value();
  kept->scene = MakeScene(kept->step);
  *chain = key;
  return rewritten_.emplace(key, std::move(kept)).first->second.get();
}

void Predictor::Prepare(const std::vector<Asked>& asked, Changed& changed, std::string& chain) {
  for (const Asked& question : asked) {
    const Lever* const lever = FindLever(question.lever);
    if (lever == nullptr || step_.OnlyForward()) continue;
    const auto prepared = Keep("before " + question.lever + "=" + question.value + " ", &chain,
                               [&] { return lever->Prepare(*changed.step, question.value); });
    if (!prepared || !prepared->ok()) continue;
    changed.step = &(**prepared)->step;
    changed.scene = (**prepared)->scene;
  }
}

Changed Predictor::Change(std::vector<Asked> asked) {
  std::stable_sort(asked.begin(), asked.end(),
                   [](const Asked& a, const Asked& b) { return PlaceOf(a.lever) < PlaceOf(b.lever); });
  Changed changed;
  changed.scene = baseline_.scene;
  changed.step = &step_;
  std::string chain;  // of the levers that wrote changed.step
  bool prepared = false;
  for (Asked& question : asked) {
    const Lever* const lever = FindLever(question.lever);
    if (lever == nullptr) {
      changed.refused.push_back(
          {std::move(question), "there is no such lever; vramscope whatif --list shows them."});
      continue;
    }
    if (step_.OnlyForward() && !lever->ChangesForward()) {
      changed.refused.push_back(
          {std::move(question), "the recorded program only runs its model forward; this changes training."});
      continue;
    }
    if (std::string why = nested_ ? WhyNotOfNested(question.lever, question.value) : ""; !why.empty()) {
      changed.refused.push_back({std::move(question), std::move(why)});
      continue;
    }
    // Behind what changes the program's data, of whose sizes the recording tells.
    if (!prepared && lever != &SequenceLever()) {
      Prepare(asked, changed, chain);
      prepared = true;
    }
    if (PlaceOf(question.lever) > PlaceOf(AccumulateLever().info().name))
      RunInPipeline(*changed.step, changed.scene);
    Scene scene = changed.scene;
    const Step* current = changed.step;
    std::string longer = chain;
    if (const auto rewritten = Rewrite(*lever, question.value, *current, &longer)) {
      if (!rewritten->ok()) {
        changed.refused.push_back({std::move(question), rewritten->error().sentence});
        continue;
      }
      current = &(**rewritten)->step;
      scene = (**rewritten)->scene;
      // What the levers before it changed in the scene of the earlier step, in that of this one.
      for (const Applied& before : changed.levers)
        (void)FindLever(before.asked.lever)->Apply(*current, before.asked.value, scene);
    }
    Result<Outcome> outcome = lever->Apply(*current, question.value, scene);
    if (!outcome.ok()) {
      changed.refused.push_back({std::move(question), outcome.error().sentence});
      continue;
    }
    changed.scene = std::move(scene);
    changed.step = current;
    chain = std::move(longer);
    changed.levers.push_back({std::move(question), std::move(outcome).value()});
  }
  RunInPipeline(*changed.step, changed.scene);
  TakeApart(changed.scene);
  return changed;
}

// Nothing: a lever changes what is allocated, or the run is no witness.
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
  const Result<Replayed> after = run.Replay(changed.scene.settings, where);
  if (!after.ok()) return after.error();
  return BeforeAndAfter{run.recorded(), *after};
}

Result<Prediction> Predictor::Judge(Changed changed, UseOverStep* over_step, uint64_t most_reserved) const {
  const auto whole = OfWholeRun(changed);
  if (whole && !whole->ok()) return whole->error();
  Result<Use> after = whole && over_step == nullptr
                          ? Result<Use>(baseline_.use)
                          : UseOf(*changed.step, changed.scene, over_step, most_reserved);
  if (!after.ok()) return after.error();
  Prediction prediction;
  prediction.before = baseline_.use;
  if (whole) {
    prediction.before.allocator = (*whole)->before;
    after->allocator = (*whole)->after;
  } else {
    BoundByRun(baseline_, changed.scene, *after);
  }
  prediction.after = *after;
  std::vector<std::string> applied;
  for (Applied& lever : changed.levers) {
    if (lever.asked.lever == EmptyCacheLever().info().name)
      TellEmptyCacheTime(after->allocator, lever.outcome);
    if (lever.asked.lever == BatchLever().info().name)
      TellWhyBatchSavesNothing(baseline_.use, *after, lever.outcome);
  }
  for (const Applied& lever : changed.levers) {
    applied.push_back(lever.asked.lever + "=" + lever.asked.value);
    if (lever.outcome.unsure) applied.emplace_back(kBranchesOnTypes);
  }
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
