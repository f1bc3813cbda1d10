// SPDX-License-Identifier: Apache-2.0
// Levers for the allocator's settings and for emptying its cache. Neither changes what is allocated.
#include "profiler/allocator/settings.h"

#include "profiler/whatif/answer/whole_run.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/step/windows.h"

namespace vramscope::whatif {
namespace {

// The position after optimizer.step() and after the zero_grad() that follows it, with which the recorded step
// begins.
Position AfterStep(const Step& step, const Scene& scene) {
  const Position end = scene.optimizer.empty() ? scene.forward.back().end : scene.optimizer.back().end;
  if (step.run == nullptr || step.first_event == 0) return end;
  const model::EventIndex before = step.first_event - 1;
  const model::EventIndex after = AfterZeroGrad(*step.run, step.run->devices[step.device].process, before);
  const Position zeroed = Position(after) - step.first_event;
  return zeroed > 0 && !scene.forward.empty() && zeroed < scene.forward.front().begin ? zeroed : end;
}

class AllocatorSettings final : public Lever {
 public:
  const LeverInfo& info() const override { return *FindLeverInfo("alloc-conf"); }

  Status Check(std::string_view value) const override {
    // The newest release accepts the most keys.
    const auto parsed = allocator::ParseSettings(value, allocator::ReleaseOf(""));
    return parsed.ok() ? Status() : Error{"--alloc-conf: " + parsed.error().sentence};
  }

  bool ChangesForward() const override { return true; }

  // The program's settings plus expandable segments, or plus large blocks that are not split.
  std::vector<std::string> Settings(const Step& step) const override {
    const std::string others = step.settings.empty() ? "" : step.settings + ",";
    std::vector<std::string> found;
    for (const std::string one : {"expandable_segments:True", "max_split_size_mb:128"}) {
      const bool given = step.settings.find(one.substr(0, one.find(':'))) != std::string::npos;
      const auto parsed = allocator::ParseSettings(others + one, allocator::ReleaseOf(step.torch_version));
      if (!given && parsed.ok()) found.push_back(others + one);
    }
    return found;
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    const auto settings =
        VRAMSCOPE_TRY(allocator::ParseSettings(value, allocator::ReleaseOf(step.torch_version)));
    scene.settings = value;
    Outcome outcome;
    outcome.code = "PYTORCH_CUDA_ALLOC_CONF=" + std::string(value) + " python ...";
    outcome.notes = settings.notes;
    return outcome;
  }
};

class EmptyCache final : public Lever {
 public:
  const LeverInfo& info() const override { return *FindLeverInfo("empty-cache"); }

  Status Check(std::string_view value) const override {
    if (ParseEmptyCacheAt(value)) return {};
    return Error{"--empty-cache must be before-backward, before-optimizer or after-step, not \"" +
                 std::string(value) + "\"."};
  }

  bool ChangesForward() const override { return true; }

  std::vector<std::string> Settings(const Step& step) const override {
    if (step.backward.empty() || step.optimizer.empty()) return {};
    return {"after-step", "before-optimizer", "before-backward"};
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& scene) const override {
    if (step.OnlyForward() && value.substr(0, 7) == "before-")
      return Error{"the recorded program only runs its model forward; use --empty-cache after-step."};
    VRAMSCOPE_TRY(Check(value));
    const std::optional<EmptyCacheAt> where = ParseEmptyCacheAt(value);
    const bool backward = *where == EmptyCacheAt::kBeforeBackward;
    const auto& windows = backward ? scene.backward : scene.optimizer;
    if (*where == EmptyCacheAt::kAfterStep)
      scene.empty_cache.push_back(In(Stage::kEmptied, AfterStep(step, scene)));
    else if (!windows.empty())
      scene.empty_cache.push_back(In(Stage::kEmpties, windows[backward ? FirstBackward(step) : 0].begin));
    else
      return Error{std::string("the recorded step has no ") +
                   (backward ? "backward pass" : "optimizer step") + ", so --empty-cache " +
                   std::string(value) + " cannot be applied."};
    Outcome outcome;
    outcome.code = "torch.cuda.empty_cache()";
    outcome.notes.push_back(
        "each call synchronizes the device and releases segments that the next step allocates from the "
        "driver again");
    return outcome;
  }
};

}  // namespace

const Lever& AllocatorSettingsLever() {
  static const AllocatorSettings lever;
  return lever;
}

const Lever& EmptyCacheLever() {
  static const EmptyCache lever;
  return lever;
}

}  // namespace vramscope::whatif
