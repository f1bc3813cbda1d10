// SPDX-License-Identifier: Apache-2.0
// Judges plans. For the changes of a plan, whatif predicts the changed step; the judge replays it through the
// model of PyTorch's allocator.
//
// Why not a formula of sizes: reserved memory must fit, and it depends on order and holes. Cheaper tests only
// rule plans out: live bytes never exceed reserved bytes, so changes whose live bytes are too many are not
// replayed.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiler/plan/rank.h"

namespace vramscope::plan {

using Changes = std::vector<whatif::Asked>;

// What must be within the limit.
struct Need {
  bool bound = true;  // judge by the bound that holds in 99 of 100 runs; else by the prediction
  // Reserved bytes that were measured and replace the prediction. The key is the text of the changes.
  std::map<std::string, uint64_t> known;
};

struct Verdict {
  Changes changes;
  bool possible = false;   // no change was refused
  bool replayed = false;   // else only `live` and `at` are known
  bool cut_short = false;  // the replay stopped when it exceeded the limit
  uint64_t live = 0;       // the most bytes alive at one time
  whatif::Position at = 0;
  uint64_t at_least = 0;  // lower bound of `needed`, from `live`
  // Reserved bytes: the bound or the prediction, as in Need; the baseline's if nothing is changed. If cut
  // short, at least this much is needed.
  uint64_t needed = 0;
  Rank rank;
  whatif::Prediction prediction;  // valid if `replayed`
};

class Judge {
 public:
  // `work`: number of blocks that may be visited, over all questions; a limit that does not depend on the
  // machine. `stop`: another thread may set it, which has the same effect as no work left; may be nullptr.
  Judge(whatif::Predictor& predictor, uint64_t work, Need need = {}, const std::atomic<bool>* stop = nullptr)
      : predictor_(predictor), work_(work), need_(std::move(need)), stop_(stop) {}

  // Replays only if the result could be at most `limit` bytes. The judge must outlive the reference.
  const Verdict& Of(const Changes& changes, uint64_t limit);
  // Live bytes alone. Levers that only change allocator settings do not affect them.
  const Verdict& LiveOf(const Changes& changes) { return Of(changes, 0); }

  // The error band for these changes; its width is 0 if Need::bound is false.
  [[nodiscard]] whatif::ErrorBand BandOf(const Changes& changes) const;

  // Counts blocks that were visited by direct calls of the predictor.
  void Spend(uint64_t blocks) { done_ += blocks; }
  void AllowMore(uint64_t work) { work_ = done_ + work; }
  [[nodiscard]] bool stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }
  [[nodiscard]] bool exhausted() const { return done_ >= work_ || stopped(); }
  [[nodiscard]] uint64_t replays() const { return replays_; }
  // Number of replays that the work allows, for steps like the recorded one.
  [[nodiscard]] uint64_t replays_left() const;
  [[nodiscard]] whatif::Predictor& predictor() { return predictor_; }
  // All verdicts so far.
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
