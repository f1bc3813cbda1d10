// SPDX-License-Identifier: Apache-2.0
// Replays every allocation of the recorded run under other allocator settings. (Other predictions repeat one
// step four times instead.)
//
// Why: other settings do not change what a program requests, so the answer needs no model of the loop. The
// recorded run, replayed through the allocator model, gives PyTorch's own counters to the byte. Repeating one
// step cannot: the first steps of a run always differ a little from later ones.
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

// Returns the end of the next zero_grad() after `at`, if the program neither calls a module nor runs backward
// before it. Otherwise returns `at`.
[[nodiscard]] model::EventIndex AfterZeroGrad(const model::Run& run, model::ProcessIndex process,
                                              model::EventIndex at);

class WholeRun {
 public:
  // `step` and its run must outlive this. O(changes of the device).
  explicit WholeRun(const Step& step);

  // True if the run was recorded from its first allocation on and the model reproduces both recorded peaks to
  // the byte. Otherwise one step is the better basis.
  [[nodiscard]] bool exact() const { return exact_; }
  [[nodiscard]] const Replayed& recorded() const { return recorded_; }  // valid if exact()
  [[nodiscard]] size_t changes() const { return changes_; }             // allocations and frees

  // Fails with one sentence if the release rejects the settings. O(changes()).
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
