// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/judge.h"

#include <algorithm>

namespace vramscope::plan {
namespace {

// A replay runs four steps, and costs about this many visits per block.
constexpr uint64_t kReplayLooks = 8;

double ExtraNs(const std::vector<whatif::Applied>& levers) {
  double extra_ns = 0;
  for (const whatif::Applied& lever : levers) extra_ns += lever.outcome.extra_ns;
  return extra_ns;
}

}  // namespace

uint64_t MostWithin(const whatif::ErrorBand& band, uint64_t limit) {
  if (limit == UINT64_MAX) return limit;
  uint64_t fits = 0, too_many = limit + 1;
  while (too_many > fits + 1) {
    const uint64_t middle = fits + (too_many - fits) / 2;
    (band.ReservedAtMost(middle) <= limit ? fits : too_many) = middle;
  }
  return fits;
}

std::string TextOf(const Changes& changes) {
  std::vector<std::string> words;
  for (const whatif::Asked& change : changes) words.push_back(change.lever + "=" + change.value);
  std::sort(words.begin(), words.end());
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

Changes ContentOf(const Changes& changes) {
  Changes content;
  for (const whatif::Asked& change : changes) {
    if (change.lever != "alloc-conf" && change.lever != "empty-cache") content.push_back(change);
  }
  return content;
}

whatif::ErrorBand Judge::BandOf(const Changes& changes) const {
  std::vector<std::string> asked;
  for (const whatif::Asked& change : changes) asked.push_back(change.lever + "=" + change.value);
  return need_.bound ? whatif::BandOf(asked) : whatif::ErrorBand{};
}

const Verdict& Judge::Of(const Changes& changes, uint64_t limit) {
  const auto [place, is_new] = verdicts_.try_emplace(TextOf(changes));
  Verdict& verdict = place->second;
  const bool known = verdict.replayed && !verdict.cut_short;
  if (!is_new && (known || !verdict.possible || verdict.at_least > limit)) return verdict;

  const auto [content, content_is_new] = by_content_.try_emplace(TextOf(ContentOf(changes)), &verdict);
  if (is_new && !content_is_new && content->second->possible) {
    verdict.changes = changes;
    verdict.possible = true;
    verdict.live = content->second->live;
    verdict.at = content->second->at;
    verdict.at_least = BandOf(changes).ReservedAtMost(verdict.live);
    if (verdict.at_least > limit) return verdict;
  }
  whatif::Changed changed = predictor_.Change(changes);
  done_ += changed.scene.blocks.size();
  verdict.changes = changes;
  verdict.possible = changed.refused.empty();
  if (!verdict.possible) return verdict;
  verdict.rank = RankOf(predictor_.step(), changes, ExtraNs(changed.levers));
  if (verdict.live == 0) {
    const whatif::Peak peak = whatif::PeakOf(changed.scene);
    verdict.live = peak.bytes;
    verdict.at = peak.at;
    verdict.at_least = BandOf(changes).ReservedAtMost(verdict.live);
  }
  if (verdict.at_least <= limit) Replay(verdict, std::move(changed), limit);
  return verdict;
}

uint64_t Judge::replays_left() const {
  const uint64_t blocks = std::max<uint64_t>(1, predictor_.baseline().scene.blocks.size());
  return (work_ - std::min(work_, done_)) / ((1 + kReplayLooks) * blocks);
}

// Most candidates of a search do not fit, and the replay shows this before its first half is over.
void Judge::Replay(Verdict& verdict, whatif::Changed changed, uint64_t limit) {
  done_ += kReplayLooks * changed.scene.blocks.size();
  ++replays_;
  const whatif::ErrorBand band = BandOf(verdict.changes);
  const auto known = need_.known.find(TextOf(verdict.changes));
  const uint64_t most = known != need_.known.end() ? UINT64_MAX : MostWithin(band, limit);
  Result<whatif::Prediction> prediction = predictor_.Judge(std::move(changed), nullptr, most);
  verdict.possible = prediction.ok();
  if (!verdict.possible) return;
  verdict.replayed = true;
  verdict.prediction = std::move(prediction).value();
  const uint64_t reserved = verdict.prediction.after.allocator.reserved_peak;
  verdict.cut_short = reserved > most;
  verdict.needed = known != need_.known.end() ? known->second : band.ReservedAtMost(reserved);
  if (verdict.cut_short) verdict.at_least = std::max(verdict.at_least, verdict.needed);
  verdict.rank = RankOf(predictor_.step(), verdict.changes, ExtraNs(verdict.prediction.levers));
}

}  // namespace vramscope::plan
