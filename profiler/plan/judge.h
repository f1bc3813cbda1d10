// SPDX-License-Identifier: Apache-2.0
// Judges plans: what-if predicts the changed step, and a replay through the model of PyTorch's allocator
// gives its reserved bytes.
//
// Reserved memory depends on order and holes, so no formula gives it. Cheaper tests only rule plans out.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiler/plan/rank.h"

namespace vramscope::plan {

using Changes = std::vector<whatif::Asked>;

// The bytes that must be within the limit.
struct Need {
  bool bound = true;  // judge by the bound that 99 of 100 runs keep; else by the prediction
  // Measured reserved bytes that replace the prediction, by the text of the changes.
  std::map<std::string, uint64_t> known;
};

struct Verdict {
  Changes changes;
  bool possible = false;   // no change was refused
  bool replayed = false;   // else only `live`, `at` and `at_least` are known
  bool cut_short = false;  // the replay stopped when it exceeded the limit
  uint64_t live = 0;       // the most bytes alive at one time, `at`
  whatif::Position at = 0;
  uint64_t at_least = 0;  // lower bound of `needed`, from `live`
  // Reserved bytes: the bound or the prediction, as in Need. Without changes: the baseline's. If cut short: a
  // lower bound.
  uint64_t needed = 0;
  Rank rank;
  whatif::Prediction prediction;  // valid if `replayed`
};

class Judge {
 public:
  // `work`: number of blocks that may be visited, over all questions. `stop`: another thread may set it to
  // end the work; may be nullptr.
  Judge(whatif::Predictor& predictor, uint64_t work, Need need = {}, const std::atomic<bool>* stop = nullptr)
      : predictor_(predictor), work_(work), need_(std::move(need)), stop_(stop) {}

  // Replays only if the result could be at most `limit` bytes. The judge must outlive the reference.
  const Verdict& Of(const Changes& changes, uint64_t limit);
  // Live bytes alone. Allocator settings do not affect them.
  const Verdict& LiveOf(const Changes& changes) { return Of(changes, 0); }

  // The error band for these changes; width 0 if Need::bound is false.
  [[nodiscard]] whatif::ErrorBand BandOf(const Changes& changes) const;

  // Counts blocks that direct calls of the predictor visited.
  void Spend(uint64_t blocks) { done_ += blocks; }
  void AllowMore(uint64_t work) { work_ = done_ + work; }
  [[nodiscard]] bool stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }
  [[nodiscard]] bool exhausted() const { return done_ >= work_ || stopped(); }
  [[nodiscard]] uint64_t replays() const { return replays_; }
  // Number of replays that the work still allows.
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

// The largest byte count whose upper bound is within the limit.
[[nodiscard]] uint64_t MostWithin(const whatif::ErrorBand& band, uint64_t limit);

// "batch=4 optimizer=sgd": sorted by the levers' names.
[[nodiscard]] std::string TextOf(const Changes& changes);
// The changes without allocator settings.
[[nodiscard]] Changes ContentOf(const Changes& changes);

}  // namespace vramscope::plan
