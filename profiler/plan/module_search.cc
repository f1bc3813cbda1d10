// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/module_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "profiler/whatif/step/segments.h"

namespace vramscope::plan {
namespace {

constexpr uint64_t kMostReplays = 96;        // per search,
constexpr uint64_t kShare = 4;               // or this part of what is left: replays of short steps are fast
constexpr uint64_t kMostDecisions = 20'000;  // per search, about 2 us each
constexpr uint64_t kMostDecisionsOfAll = 200'000;
constexpr size_t kMostForPairs = 24;  // with more modules, only one is exchanged for one
constexpr uint64_t kHole = 1 << 20;   // smaller holes are ignored
constexpr int kMostBounds = 8;        // number of times that the bound of one search is improved

Changes WithCheckpoints(Changes others) {
  others.push_back({"checkpoint", ""});
  return others;
}

bool Fits(const Verdict& verdict, uint64_t limit) { return verdict.replayed && verdict.needed <= limit; }

// Sets that take less time than `chosen` and differ from it by few modules, the shortest first.
std::vector<std::vector<bool>> Shorter(const std::vector<bool>& chosen, const std::vector<double>& ns) {
  // Ways to add or remove zero, one or two modules, with the added or removed time.
  std::vector<std::pair<double, std::vector<size_t>>> outs, ins;
  for (size_t i = 0; i < chosen.size(); ++i) {
    auto& ways = chosen[i] ? outs : ins;
    ways.push_back({ns[i], {i}});
    for (size_t j = i + 1; j < chosen.size() && chosen.size() <= kMostForPairs; ++j) {
      if (chosen[i] == chosen[j]) ways.push_back({ns[i] + ns[j], {i, j}});
    }
  }
  std::vector<std::pair<double, std::vector<bool>>> sets;
  for (const auto& [gone, out] : outs) {
    for (const auto& [come, in] : ins) {
      if (come >= gone) continue;
      std::vector<bool> other = chosen;
      for (const size_t i : out) other[i] = false;
      for (const size_t i : in) other[i] = true;
      sets.emplace_back(gone - come, std::move(other));
    }
  }
  std::stable_sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::vector<bool>> shorter;
  for (auto& [saved, set] : sets) shorter.push_back(std::move(set));
  return shorter;
}

}  // namespace

// The basis of the cuts of one program, independent of its allocator settings.
struct ModuleSearch::Content {
  whatif::Scene none;
  std::vector<whatif::Scene> alone;  // by module
  std::vector<whatif::Position> at;  // positions of the cuts
  std::vector<Cut> cuts;

  const Cut& CutAt(whatif::Position moment) {
    const auto known = std::find(at.begin(), at.end(), moment);
    if (known != at.end()) return cuts[static_cast<size_t>(known - at.begin())];
    Cut cut{whatif::LiveAt(none, moment), {}};
    for (const whatif::Scene& scene : alone) {
      const uint64_t live = whatif::LiveAt(scene, moment);
      cut.freed.push_back(cut.live - std::min(cut.live, live));
    }
    at.push_back(moment);
    return cuts.emplace_back(std::move(cut));
  }
  // Returns true if it is new.
  bool AddCut(whatif::Position moment) {
    const size_t before = cuts.size();
    (void)CutAt(moment);
    return cuts.size() > before;
  }
};

ModuleSearch::~ModuleSearch() = default;

ModuleSearch::ModuleSearch(Judge& judge, std::vector<std::string> modules, std::vector<std::string> families)
    : judge_(judge), decisions_(kMostDecisionsOfAll) {
  for (std::string& module : modules) {
    const Verdict& alone = judge_.LiveOf({{"checkpoint", module}});
    if (!alone.possible) continue;  // it saves nothing that could be recomputed
    ns_.push_back(alone.rank.extra_ns);
    modules_.push_back(std::move(module));
  }
  for (const std::string& family : families) {
    const auto calls = whatif::ChooseSegments(judge_.predictor().step(), family);
    if (!calls.ok()) continue;
    std::vector<bool> chosen(modules_.size(), false);
    for (const uint32_t call : *calls) {
      const whatif::Step& step = judge_.predictor().step();
      const auto found = std::find(modules_.begin(), modules_.end(), step.Text(step.modules[call].name));
      if (found != modules_.end()) chosen[static_cast<size_t>(found - modules_.begin())] = true;
    }
    families_[chosen] = family;  // if several are the same, the last one stays: "all"
  }
}

double ModuleSearch::LeastNs() const { return ns_.empty() ? 0 : *std::min_element(ns_.begin(), ns_.end()); }

std::string ModuleSearch::NameOf(const std::vector<bool>& chosen) const {
  if (const auto family = families_.find(chosen); family != families_.end()) return family->second;
  std::string names;
  for (size_t i = 0; i < modules_.size(); ++i) {
    if (chosen[i]) names += (names.empty() ? "" : ",") + modules_[i];
  }
  return names;
}

double ModuleSearch::TimeOf(const std::vector<bool>& chosen) const {
  double ns = 0;
  for (size_t i = 0; i < ns_.size(); ++i) ns += chosen[i] ? ns_[i] : 0;
  return ns;
}

const Verdict& ModuleSearch::With(const Changes& others, const std::vector<bool>& chosen, uint64_t limit) {
  Changes changes = others;
  if (std::find(chosen.begin(), chosen.end(), true) != chosen.end())
    changes.push_back({"checkpoint", NameOf(chosen)});
  return judge_.Of(changes, limit);
}

ModuleSearch::Content& ModuleSearch::ContentFor(const Changes& others) {
  const Changes content = ContentOf(others);
  std::unique_ptr<Content>& kept = contents_[TextOf(content)];
  if (kept != nullptr) return *kept;
  kept = std::make_unique<Content>();
  kept->none = judge_.predictor().Change(content).scene;
  for (const std::string& module : modules_) {
    Changes changes = content;
    changes.push_back({"checkpoint", module});
    kept->alone.push_back(judge_.predictor().Change(changes).scene);
    judge_.Spend(kept->alone.back().blocks.size());
  }
  return *kept;
}

std::optional<double> ModuleSearch::AtLeastNs(const Changes& others, uint64_t limit) {
  if (modules_.empty()) return std::nullopt;
  Content& content = ContentFor(others);
  content.AddCut(whatif::PeakOf(content.none).at);
  const uint64_t wanted = MostWithin(judge_.BandOf(WithCheckpoints(others)), limit);
  Covers covers(ns_, content.cuts, wanted);
  double least_ns = 0;
  for (int i = 0; i < kMostBounds && !judge_.exhausted(); ++i) {
    const std::optional<std::vector<bool>> shortest = Next(covers, std::numeric_limits<double>::infinity());
    least_ns = shortest ? TimeOf(*shortest) : covers.AtLeastNs();
    if (!std::isfinite(least_ns)) {  // not even all of them fit
      (void)With(others, std::vector<bool>(modules_.size(), true), 0);
      return std::nullopt;
    }
    if (!shortest) break;
    const Verdict& verdict = With(others, *shortest, 0);
    if (!verdict.possible || verdict.live <= wanted || !content.AddCut(verdict.at)) break;
  }
  return least_ns;
}

std::optional<ModuleChoice> ModuleSearch::Cheapest(const Changes& others, uint64_t limit) {
  if (modules_.empty()) return std::nullopt;
  Content& content = ContentFor(others);
  content.AddCut(whatif::PeakOf(content.none).at);
  if (modules_.size() <= kMostExactModules) return Exact(others, content, limit);
  return Greedy(others, content, limit);
}

std::optional<ModuleChoice> ModuleSearch::Exact(const Changes& others, Content& content, uint64_t limit) {
  std::vector<std::pair<double, std::vector<bool>>> sets;
  for (uint32_t bits = 1; bits < 1u << modules_.size(); ++bits) {
    std::vector<bool> chosen(modules_.size());
    for (size_t i = 0; i < modules_.size(); ++i) chosen[i] = (bits >> i & 1) != 0;
    sets.emplace_back(TimeOf(chosen), std::move(chosen));
  }
  std::stable_sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const uint64_t replays = judge_.replays();
  const whatif::ErrorBand band = judge_.BandOf(WithCheckpoints(others));
  for (const auto& set : sets) {
    const std::vector<bool>& chosen = set.second;
    const bool ruled_out = std::any_of(content.cuts.begin(), content.cuts.end(), [&](const Cut& cut) {
      return band.ReservedAtMost(cut.Left(chosen)) > limit;
    });
    if (ruled_out) continue;
    if (judge_.replays() - replays >= kMostReplays || judge_.exhausted())
      return Greedy(others, content, limit);
    const Verdict& verdict = With(others, chosen, limit);
    if (Fits(verdict, limit)) return ModuleChoice{&verdict, true, set.first};
    if (verdict.possible && !verdict.replayed) content.AddCut(verdict.at);
  }
  return std::nullopt;
}

std::optional<ModuleChoice> ModuleSearch::Greedy(const Changes& others, Content& content, uint64_t limit) {
  std::vector<bool> chosen(modules_.size(), false);
  const Verdict* verdict = &With(others, chosen, limit);
  while (!Fits(*verdict, limit)) {
    const Cut& cut = content.CutAt(verdict->at);
    size_t best = modules_.size();
    const auto gain = [&](size_t i) { return static_cast<double>(cut.freed[i] + 1) / (ns_[i] + 1); };
    for (size_t i = 0; i < modules_.size(); ++i) {
      if (!chosen[i] && (best == modules_.size() || gain(i) > gain(best))) best = i;
    }
    if (best == modules_.size() || judge_.exhausted()) return std::nullopt;
    chosen[best] = true;
    verdict = &With(others, chosen, limit);
  }
  // Modules that can be left out, longest time first.
  std::vector<size_t> order(modules_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ns_[a] > ns_[b]; });
  const auto try_instead = [&](std::vector<bool> other) {
    if (judge_.exhausted()) return false;
    const Verdict& changed = With(others, other, limit);
    if (!Fits(changed, limit)) return false;
    chosen = std::move(other);
    verdict = &changed;
    return true;
  };
  for (const size_t i : order) {
    if (!chosen[i]) continue;
    std::vector<bool> without = chosen;
    without[i] = false;
    (void)try_instead(std::move(without));
  }
  Found found{std::move(chosen), verdict};
  const uint64_t end = judge_.replays() + std::max(kMostReplays, judge_.replays_left() / kShare);
  const auto part = [&](uint64_t share) {
    return judge_.replays() + (end - std::min(end, judge_.replays())) / share;
  };
  Shorten(others, content, limit, part(3), found);
  Exchange(others, content, limit, part(2), found);
  const double least_ns = Prove(others, content, limit, end, found);
  return ModuleChoice{found.verdict, least_ns >= TimeOf(found.chosen),
                      std::min(least_ns, TimeOf(found.chosen))};
}

std::optional<std::vector<bool>> ModuleSearch::Next(Covers& covers, double below_ns) {
  uint64_t work = std::min(kMostDecisions, decisions_);
  decisions_ -= work;
  std::optional<std::vector<bool>> next = covers.Next(below_ns, work);
  decisions_ += work;
  return next;
}

// Reserved memory has holes, so live bytes must be lower than the limit by some amount. The amount is
// unknown: between none and the holes of the found set. It is halved again and again.
void ModuleSearch::Shorten(const Changes& others, Content& content, uint64_t limit, uint64_t end,
                           Found& found) {
  const uint64_t wanted = MostWithin(judge_.BandOf(WithCheckpoints(others)), limit);
  uint64_t few = 0, many = found.verdict->needed - std::min(found.verdict->needed, found.verdict->at_least);
  while (many > few + kHole && judge_.replays() < end && !judge_.exhausted()) {
    const uint64_t holes = few + (many - few) / 2;
    Covers covers(ns_, content.cuts, wanted - std::min(wanted, holes));
    std::optional<std::vector<bool>> shorter = Next(covers, TimeOf(found.chosen));
    if (!shorter) {
      many = holes;
      continue;
    }
    const Verdict& verdict = With(others, *shorter, limit);
    if (Fits(verdict, limit)) {
      found = {*std::move(shorter), &verdict};
      many = holes;
    } else if (verdict.replayed) {
      few = holes;
    } else if (!verdict.possible || !content.AddCut(verdict.at)) {
      return;
    }
  }
}

// Visits all sets that free enough at every cut, the shortest first. If none of them fits, nothing takes less
// time.
double ModuleSearch::Prove(const Changes& others, Content& content, uint64_t limit, uint64_t end,
                           Found& found) {
  Covers covers(ns_, content.cuts, MostWithin(judge_.BandOf(WithCheckpoints(others)), limit));
  double least_ns = 0;
  while (judge_.replays() < end && !judge_.exhausted()) {
    std::optional<std::vector<bool>> shorter = Next(covers, TimeOf(found.chosen));
    least_ns = covers.AtLeastNs();
    if (!shorter) break;
    least_ns = TimeOf(*shorter);
    const Verdict& verdict = With(others, *shorter, limit);
    if (Fits(verdict, limit)) {
      found = {*std::move(shorter), &verdict};
      break;
    }
    if (verdict.possible && !verdict.replayed) content.AddCut(verdict.at);
  }
  return least_ns;
}

// Exchanges up to two modules for up to two others, the largest savings first.
void ModuleSearch::Exchange(const Changes& others, Content& content, uint64_t limit, uint64_t end,
                            Found& found) {
  const whatif::ErrorBand band = judge_.BandOf(WithCheckpoints(others));
  for (bool better = true; better && judge_.replays() < end;) {
    better = false;
    for (std::vector<bool>& exchanged : Shorter(found.chosen, ns_)) {
      const bool ruled_out = std::any_of(content.cuts.begin(), content.cuts.end(), [&](const Cut& cut) {
        return band.ReservedAtMost(cut.Left(exchanged)) > limit;
      });
      if (ruled_out || judge_.replays() >= end || judge_.exhausted()) continue;
      const Verdict& verdict = With(others, exchanged, limit);
      better = Fits(verdict, limit);
      if (better) found = {std::move(exchanged), &verdict};
      if (better) break;
    }
  }
}

}  // namespace vramscope::plan
