// SPDX-License-Identifier: Apache-2.0
// Replays every allocation of the recorded run under other allocator settings.
//
// The replay gives PyTorch's own counters to the byte. Repeating one step cannot: the first steps of a run
// differ from later ones.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// The place in each step where torch.cuda.empty_cache() is called.
enum class EmptyCacheAt : uint8_t { kNever, kBeforeBackward, kBeforeOptimizer, kAfterStep };
// "before-backward", "before-optimizer", "after-step"; nothing for any other text.
[[nodiscard]] std::optional<EmptyCacheAt> ParseEmptyCacheAt(std::string_view text);

// The end of the next zero_grad() after `at`, if no module call or backward pass lies in between. Otherwise
// `at`.
[[nodiscard]] model::EventIndex AfterZeroGrad(const model::Run& run, model::ProcessIndex process,
                                              model::EventIndex at);

class WholeRun {
 public:
  // `step` and its run must outlive this. O(changes of the device).
  explicit WholeRun(const Step& step);

  // True if the run was recorded from its first allocation and the model reproduces both recorded peaks to
  // the byte. Otherwise use one step.
  [[nodiscard]] bool exact() const { return exact_; }
  [[nodiscard]] const Replayed& recorded() const { return recorded_; }  // valid if exact()
  [[nodiscard]] size_t changes() const { return changes_; }             // allocations and frees

  // Fails if the release rejects the settings. O(changes()).
  [[nodiscard]] Result<Replayed> Replay(const std::string& settings, EmptyCacheAt where) const;

 private:
  [[nodiscard]] std::vector<model::EventIndex> CallsOf(EmptyCacheAt where) const;

  const Step& step_;
  size_t changes_ = 0;
  bool exact_ = false;
  Replayed recorded_;
  std::vector<model::EventIndex> emptied_;  // where the program calls empty_cache() itself
};

}  // namespace vramscope::whatif
