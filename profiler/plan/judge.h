// SPDX-License-Identifier: Apache-2.0
// The only judge of a plan: what whatif predicts for its changes, replayed through PyTorch's allocator.
//
// Why not a formula of sizes: what must fit is reserved memory, and that depends on order and holes. What is
// cheaper than a replay is only used to rule out: live bytes can never be more than what is reserved, so
// changes whose live bytes are too many are not replayed.
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
  bool bound = true;  // what 99 of 100 runs keep to; else the prediction itself
  // By the text of changes: reserved bytes that are known better than by a prediction.
  std::map<std::string, uint64_t> known;
};

struct Verdict {
  Changes changes;
  bool possible = false;   // no change was refused
  bool replayed = false;   // else only `live` and `at` are known
  bool cut_short = false;  // the replay showed that more than the limit is needed, and ended there
  uint64_t live = 0;       // the most bytes that are alive at once
  whatif::Position at = 0;
  uint64_t at_least = 0;  // of what is needed: it follows from `live`
  uint64_t needed =
      0;  // reserved, as Need says; as predicted when nothing is changed; at least that when cut short
  Rank rank;
  whatif::Prediction prediction;  // when it was replayed
};

class Judge {
 public:
  // `work`: blocks that may be looked at, over all questions; a limit that does not depend on the machine.
  // `stop`: may be set by another thread, and is as if the work had run out; may be nullptr.
  Judge(whatif::Predictor& predictor, uint64_t work, Need need = {}, const std::atomic<bool>* stop = nullptr)
      : predictor_(predictor), work_(work), need_(std::move(need)), stop_(stop) {}

  // Replayed only when it could be at most `limit` bytes. The reference holds until the judge goes.
  const Verdict& Of(const Changes& changes, uint64_t limit);
  // Of live bytes alone; levers that only tell the allocator something change nothing of it.
  const Verdict& LiveOf(const Changes& changes) { return Of(changes, 0); }

  // Around what is predicted of these changes; of no width where the prediction itself counts.
  [[nodiscard]] whatif::ErrorBand BandOf(const Changes& changes) const;

  // Of the work, for questions that were put to the predictor itself.
  void Spend(uint64_t blocks) { done_ += blocks; }
  void AllowMore(uint64_t work) { work_ = done_ + work; }
  [[nodiscard]] bool stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }
  [[nodiscard]] bool exhausted() const { return done_ >= work_ || stopped(); }
  [[nodiscard]] uint64_t replays() const { return replays_; }
  // That the work is enough for, of steps like the recorded one.
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

// The most bytes whose bound is within the limit; that of a whole byte more is not.
[[nodiscard]] uint64_t MostWithin(const whatif::ErrorBand& band, uint64_t limit);

// "batch=4 optimizer=sgd": in the order of the levers' names.
[[nodiscard]] std::string TextOf(const Changes& changes);
// Without what only the allocator is told.
[[nodiscard]] Changes ContentOf(const Changes& changes);

}  // namespace vramscope::plan
