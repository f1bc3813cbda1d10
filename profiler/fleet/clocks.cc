// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/clocks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "profiler/fleet/in_step.h"
#include "profiler/fleet/spread.h"

namespace vramscope::fleet {
namespace {

// The time at which a step ended. Signed, because only differences are used.
struct StepEnd {
  uint32_t step = 0;
  int64_t ns = 0;
};
// Sorted by step, each step once, as RankSummary::steps. A map would need a gigabyte for 16,384 ranks with 1,000 steps.
using StepEnds = std::vector<StepEnd>;

// The steps that both have.
std::vector<std::pair<const StepEnd*, const StepEnd*>> InBoth(const StepEnds& a, const StepEnds& b) {
  std::vector<std::pair<const StepEnd*, const StepEnd*>> both;
  both.reserve(std::min(a.size(), b.size()));
  auto other = b.begin();
  for (const StepEnd& end : a) {
    while (other != b.end() && other->step < end.step) ++other;
    if (other != b.end() && other->step == end.step) both.emplace_back(&end, &*other);
  }
  return both;
}

// The year 2096. Later times come from damaged files, and the sum of three of them would overflow 63 bits.
constexpr uint64_t kLatestNs = 4'000'000'000'000'000'000;
// No real clock drifts by 1 %. A larger estimate has another reason and is ignored.
constexpr double kMostDriftPpm = 10'000;

bool HasTimes(const RankSummary& rank) {
  return !rank.counts_events && rank.start_realtime_ns != 0 && rank.start_realtime_ns < kLatestNs;
}

StepEnds EndsOf(const RankSummary& rank) {
  StepEnds ends;
  if (!HasTimes(rank)) return ends;
  for (const StepFigures& step : rank.steps)
    if (step.end_ns < kLatestNs - rank.start_realtime_ns)
      ends.push_back({step.number, static_cast<int64_t>(rank.start_realtime_ns + step.end_ns)});
  return ends;
}

// The median over ranks of the end of each step.
StepEnds MedianEnds(const std::vector<const StepEnds*>& ranks) {
  StepEnds medians;
  InStep(
      ranks, [](const StepEnd& end) { return end.step; },
      [&](uint32_t step, const std::vector<const StepEnd*>& ends) {
        std::vector<int64_t> times;
        for (const StepEnd* end : ends) times.push_back(end->ns);
        medians.push_back({step, MedianOf(std::move(times))});
      });
  return medians;
}

std::vector<std::pair<int64_t, int64_t>> Differences(const StepEnds& base, const StepEnds& other) {
  std::vector<std::pair<int64_t, int64_t>> differences;  // time by the base's clock, difference
  for (const auto& [usual, own] : InBoth(base, other))
    differences.emplace_back(usual->ns, own->ns - usual->ns);
  return differences;
}

// Fits a line through the differences. Its slope is the median of the slopes between points half the series
// apart, so single late steps do not change it. `zero_ns`: the time at which the offset is exact.
void Fit(const std::vector<std::pair<int64_t, int64_t>>& points, HostClock& clock, int64_t& zero_ns) {
  clock.steps = static_cast<uint32_t>(points.size());
  if (points.empty()) return;
  std::vector<int64_t> offsets;
  for (const auto& [at, difference] : points) offsets.push_back(difference);
  clock.offset_ns = MedianOf(offsets);
  zero_ns = points[points.size() / 2].first;
  if (points.size() < 8) return;
  std::vector<int64_t> slopes;  // in billionths, limited to kMostDriftPpm
  const size_t half = points.size() / 2;
  for (size_t i = 0; i + half < points.size(); ++i) {
    const auto span = static_cast<double>(points[i + half].first - points[i].first);
    if (span <= 0) continue;
    const auto gain = static_cast<double>(points[i + half].second - points[i].second);
    slopes.push_back(
        static_cast<int64_t>(std::clamp(1e9 * gain / span, -1000 * kMostDriftPpm, 1000 * kMostDriftPpm)));
  }
  const double drift_ppm = static_cast<double>(MedianOf(std::move(slopes))) / 1000;
  if (std::abs(drift_ppm) < kMostDriftPpm) clock.drift_ppm = drift_ppm;
}

int64_t Predicted(const HostClock& clock, int64_t zero_ns, int64_t at) {
  return clock.offset_ns +
         static_cast<int64_t>(std::llround(clock.drift_ppm * 1e-6 * static_cast<double>(at - zero_ns)));
}

// The number of steps that each rank had finished at `until`.
std::vector<int64_t> StepsDone(const std::vector<StepEnds>& ranks, int64_t until) {
  std::vector<int64_t> done;
  for (const StepEnds& ends : ranks)
    done.push_back(
        std::count_if(ends.begin(), ends.end(), [&](const StepEnd& end) { return end.ns <= until; }));
  return done;
}

// The median of `done`, over the ranks that have steps.
int64_t UsualCount(const std::vector<int64_t>& done, const std::vector<StepEnds>& ranks) {
  std::vector<int64_t> counts;
  for (size_t i = 0; i < ranks.size(); ++i)
    if (!ranks[i].empty()) counts.push_back(done[i]);
  return MedianOf(std::move(counts));
}

uint64_t MedianStep(const std::vector<StepEnds>& ranks) {
  std::vector<int64_t> all;
  for (const StepEnds& ends : ranks)
    for (size_t i = 1; i < ends.size(); ++i) all.push_back(ends[i].ns - ends[i - 1].ns);
  return static_cast<uint64_t>(std::max<int64_t>(MedianOf(std::move(all)), 0));
}

class Aligner {
 public:
  explicit Aligner(const std::vector<RankSummary>& ranks) : ranks_(ranks) {
    for (const RankSummary& rank : ranks) ends_.push_back(EndsOf(rank));
  }

  Clocks Align() {
    StepEnds median = AlignHosts();
    clocks_.step_ns = MedianStep(ends_);
    std::vector<const StepEnds*> all;
    std::vector<int64_t> last_ends;
    for (const StepEnds& ends : ends_) {
      all.push_back(&ends);
      if (!ends.empty()) last_ends.push_back(ends.back().ns);
    }
    const int64_t usual_end = MedianOf(std::move(last_ends));
    if (clocks_.hosts.size() > 1) median = MedianEnds(all);
    const std::vector<int64_t> done = StepsDone(ends_, usual_end);
    const int64_t usual = UsualCount(done, ends_);
    for (size_t i = 0; i < ends_.size(); ++i) {
      Timing timing;
      std::vector<int64_t> behind;
      for (const auto& [own, usual] : InBoth(ends_[i], median)) behind.push_back(own->ns - usual->ns);
      if (!behind.empty()) timing.behind_ns = MedianOf(std::move(behind));
      if (!ends_[i].empty())
        timing.steps_behind = static_cast<uint32_t>(std::max<int64_t>(usual - done[i], 0));
      clocks_.ranks.push_back(timing);
    }
    return std::move(clocks_);
  }

 private:
  // Estimates each host's clock, and converts the step ends of its ranks to the first host's clock. Returns the
  // median ends of the first host that has any.
  StepEnds AlignHosts() {
    std::vector<std::string> order;
    std::map<std::string, std::vector<size_t>> by_host;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      auto& members = by_host[ranks_[i].host];
      if (members.empty()) order.push_back(ranks_[i].host);
      members.push_back(i);
    }
    StepEnds base;
    for (const std::string& host : order) {
      std::vector<const StepEnds*> members;
      for (const size_t i : by_host[host]) members.push_back(&ends_[i]);
      const StepEnds own = MedianEnds(members);
      if (base.empty()) base = own;
      HostClock clock;
      clock.host = host;
      clock.ranks = static_cast<uint32_t>(members.size());
      int64_t zero_ns = 0;
      const auto points = Differences(base, own);
      Fit(points, clock, zero_ns);
      std::vector<int64_t> rest;
      for (const auto& [at, difference] : points)
        rest.push_back(std::abs(difference - Predicted(clock, zero_ns, at)));
      clock.residual_ns = static_cast<uint64_t>(MedianOf(std::move(rest)));
      for (const size_t i : by_host[host])
        for (StepEnd& end : ends_[i]) end.ns -= Predicted(clock, zero_ns, end.ns - clock.offset_ns);
      clocks_.hosts.push_back(clock);
    }
    return base;
  }

  const std::vector<RankSummary>& ranks_;
  std::vector<StepEnds> ends_;
  Clocks clocks_;
};

}  // namespace

Clocks AlignClocks(const std::vector<RankSummary>& ranks) { return Aligner(ranks).Align(); }

}  // namespace vramscope::fleet
