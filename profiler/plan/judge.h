// SPDX-License-Identifier: Apache-2.0
// Computes whether a plan (a combination of changes) fits within a memory limit. What-if predicts the changed
// step. A replay of the step in the allocator model then computes the reserved bytes.
//
// Reserved memory depends on the order of allocations and on the gaps between blocks, so it cannot be
// computed with a formula. Cheaper tests, without a replay, can only show that a plan does not fit.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiler/plan/rank.h"

namespace vramscope::plan {

using Changes = std::vector<whatif::Asked>;

// Selects the number of bytes that is compared with the limit.
struct Need {
  bool bound = true;  // true: the upper bound that 99 of 100 runs stay within; false: the prediction
  // Measured reserved bytes, which replace the prediction. The key is TextOf(changes).
  std::map<std::string, uint64_t> known;
};

struct Verdict {
  Changes changes;
  bool possible = false;   // true if no change was refused
  bool replayed = false;   // if false, only `live`, `at` and `at_least` are valid
  bool cut_short = false;  // the replay stopped when it exceeded the limit
  uint64_t live = 0;       // highest number of live bytes, reached at the position `at`
  whatif::Position at = 0;
  uint64_t at_least = 0;  // lower bound of `needed`, computed from `live`
  // Reserved bytes: the bound or the prediction (Need::bound). If `cut_short`, a lower bound.
  uint64_t needed = 0;
  Rank rank;                      // cost of the plan, for comparing plans
  whatif::Prediction prediction;  // valid if `replayed`
};

class Judge {
 public:
  // `work`: number of blocks that all calls together may visit. `stop`: another thread may set this flag to
  // end the work; may be nullptr.
  Judge(whatif::Predictor& predictor, uint64_t work, Need need = {}, const std::atomic<bool>* stop = nullptr)
      : predictor_(predictor), work_(work), need_(std::move(need)), stop_(stop) {}

  // Returns the verdict about a plan. The plan is replayed only if it could need at most `limit` bytes. The
  // reference is valid while the judge exists.
  const Verdict& Of(const Changes& changes, uint64_t limit);
  // Returns a verdict without a replay: only the live bytes, which do not depend on allocator settings.
  const Verdict& LiveOf(const Changes& changes) { return Of(changes, 0); }

  // Returns the error band for these changes. Its width is 0 if Need::bound is false.
  [[nodiscard]] whatif::ErrorBand BandOf(const Changes& changes) const;

  // Adds blocks that the caller visited with the predictor to the work done.
  void Spend(uint64_t blocks) { done_ += blocks; }
  void AllowMore(uint64_t work) { work_ = done_ + work; }
  [[nodiscard]] bool stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }
  [[nodiscard]] bool exhausted() const { return done_ >= work_ || stopped(); }
  [[nodiscard]] uint64_t replays() const { return replays_; }
  // Returns the number of replays that the remaining work allows.
  [[nodiscard]] uint64_t replays_left() const;
  [[nodiscard]] whatif::Predictor& predictor() { return predictor_; }
  [[nodiscard]] const std::map<std::string, Verdict>& verdicts() const { return verdicts_; }

 private:
  void Replay(Verdict& verdict, whatif::Changed changed, uint64_t limit);

  whatif::Predictor& predictor_;
  uint64_t work_;
  Need need_;
  const std::atomic<bool>* stop_;
  uint64_t done_ = 0;
  uint64_t replays_ = 0;
  std::map<std::string, Verdict> verdicts_;  // by the text of the changes
  std::map<std::string, const Verdict*> by_content_;
};

// Returns the largest prediction whose upper bound is at most `limit`.
[[nodiscard]] uint64_t MostWithin(const whatif::ErrorBand& band, uint64_t limit);

// Returns the changes as text, sorted by name: "batch=4 optimizer=sgd".
[[nodiscard]] std::string TextOf(const Changes& changes);
// Returns the changes without `alloc-conf` and `empty-cache`, which do not change the live bytes.
[[nodiscard]] Changes ContentOf(const Changes& changes);

}  // namespace vramscope::plan
