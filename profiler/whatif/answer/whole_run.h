// SPDX-License-Identifier: Apache-2.0
// What the allocator is told, tried on every allocation of the recorded run instead of on one step four
// times.
//
// Why: other settings change nothing that a program asks for, so the answer needs no model of the loop: the
// run as it was recorded, through the model of the allocator, gives PyTorch's own counters to the byte. One
// step written out again and again cannot: the first steps of a run are never quite like its later ones.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// Where torch.cuda.empty_cache() is called, once a step.
enum class EmptyCacheAt : uint8_t { kNever, kBeforeBackward, kBeforeOptimizer, kAfterStep };
// "before-backward", "before-optimizer", "after-step"; nothing for other words.
[[nodiscard]] std::optional<EmptyCacheAt> ParseEmptyCacheAt(std::string_view text);

// The end of the zero_grad() that follows `at` before the program calls a module or works backward; else
// `at`.
[[nodiscard]] model::EventIndex AfterZeroGrad(const model::Run& run, model::ProcessIndex process,
                                              model::EventIndex at);

class WholeRun {
 public:
  // `step` and its run must outlive this. O(changes of the device).
  explicit WholeRun(const Step& step);

  // Whether the run was seen from its first allocation on, and the model under the recorded settings reaches
  // the recorded peaks, both to the byte. Else one step is the better witness.
  [[nodiscard]] bool exact() const { return exact_; }
  [[nodiscard]] const Replayed& recorded() const { return recorded_; }  // when exact
  [[nodiscard]] size_t changes() const { return changes_; }             // allocations and frees

  // An error is one sentence: settings that the release refuses. O(changes()).
  [[nodiscard]] Result<Replayed> Replay(const std::string& settings, EmptyCacheAt where) const;

 private:
  [[nodiscard]] std::vector<model::EventIndex> CallsOf(EmptyCacheAt where) const;

  const Step& step_;
  size_t changes_ = 0;
  bool exact_ = false;
  Replayed recorded_;
  std::vector<model::EventIndex> emptied_;  // the program does so itself there
};

}  // namespace vramscope::whatif
