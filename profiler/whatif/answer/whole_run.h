// SPDX-License-Identifier: Apache-2.0
// Replays every allocation of the recorded run in the allocator model, with other allocator settings.
//
// The replay computes PyTorch's own counters exactly. Repeating one step would not be exact, because the
// first steps of a run differ from later steps.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// The place in each step where torch.cuda.empty_cache() is called.
enum class EmptyCacheAt : uint8_t { kNever, kBeforeBackward, kBeforeOptimizer, kAfterStep };
// Reads "before-backward", "before-optimizer" or "after-step"; nullopt for any other text.
[[nodiscard]] std::optional<EmptyCacheAt> ParseEmptyCacheAt(std::string_view text);

// Returns the end of the zero_grad() calls that follow `at` before any module call or backward pass. Returns
// `at` if there are none.
[[nodiscard]] model::EventIndex AfterZeroGrad(const model::Run& run, model::ProcessIndex process,
                                              model::EventIndex at);

class WholeRun {
 public:
  // `step` and its run must outlive this object. O(changes of the device).
  explicit WholeRun(const Step& step);

  // True if the run was recorded from its first allocation and the model reproduces both recorded peaks
  // exactly. If false, use a replay of one step instead.
  [[nodiscard]] bool exact() const { return exact_; }
  [[nodiscard]] const Replayed& recorded() const { return recorded_; }  // valid if exact()
  [[nodiscard]] size_t changes() const { return changes_; }             // number of allocations and frees

  // Replays the run with these settings and calls of empty_cache(). Fails if the PyTorch release rejects the
  // settings. O(changes()).
  [[nodiscard]] Result<Replayed> Replay(const std::string& settings, EmptyCacheAt where) const;

 private:
  [[nodiscard]] std::vector<model::EventIndex> CallsOf(EmptyCacheAt where) const;

  const Step& step_;
  size_t changes_ = 0;
  bool exact_ = false;
  Replayed recorded_;
  std::vector<model::EventIndex> emptied_;  // events at which the program itself calls empty_cache()
};

}  // namespace vramscope::whatif
