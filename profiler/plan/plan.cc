// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/plan.h"

#include <algorithm>
#include <queue>
#include <set>

#include "profiler/plan/module_search.h"
#include "profiler/whatif/step/segments.h"

namespace vramscope::plan {
namespace {

constexpr size_t kFloorReplays = 8;

std::set<std::string> LeversOf(const Changes& changes) {
  std::set<std::string> names;
  for (const whatif::Asked& change : changes) names.insert(change.lever);
  return names;
}

enum class Stage : uint8_t {
  kPlain,    // to be judged without checkpoints
  kModules,  // modules must be chosen; their least time is not known yet
  kChoice,   // modules must be chosen; no choice takes less than the rank
  kDone,     // fits
};

struct Candidate {
  Rank rank;  // lower bound
  Stage stage = Stage::kPlain;
  Changes changes;
  Plan plan;  // valid if done
  uint64_t number = 0;

  bool operator<(const Candidate& other) const {  // for a queue whose top is the cheapest
    if (rank < other.rank) return false;
    if (other.rank < rank) return true;
    return number > other.number;
  }
};

class PlanSearch {
 public:
  PlanSearch(Judge& judge, const Request& request, Answer& answer)
      : judge_(judge),
        request_(request),
        step_(judge.predictor().step()),
        answer_(answer),
        modules_(judge,
                 Allowed(request.levers, "checkpoint") ? whatif::CheckpointUnits(step_)
                                                       : std::vector<std::string>{},
                 whatif::CheckpointLever().Settings(step_)) {}

  void Run() {
    for (Changes& changes : Combinations(step_, request_.levers)) {
      if (judge_.stopped()) break;
      const Rank rank = AtLeast(changes);
      Push({rank, Stage::kPlain, std::move(changes), {}, 0});
    }
    GoThrough();
    answer_.complete = !judge_.stopped() && (queue_.empty() || answer_.plans.size() == request_.top);
    TakeWhatIsDone();
    if (answer_.plans.empty() && !answer_.complete) Coarsely();
  }

 private:
  void GoThrough() {
    while (!queue_.empty() && answer_.plans.size() < request_.top && !judge_.exhausted()) {
      const Candidate candidate = queue_.top();
      queue_.pop();
      if (Superfluous(candidate.changes)) continue;
      switch (candidate.stage) {
        case Stage::kPlain:
          TryPlain(candidate);
          break;
        case Stage::kModules:
          Bound(candidate);
          break;
        case Stage::kChoice:
          TryModules(candidate);
          break;
        case Stage::kDone:
          Take(candidate);
          break;
      }
    }
  }

  // For when the work has run out: reports plans that fit, the cheapest first, even if a cheaper one may
  // exist.
  void TakeWhatIsDone() {
    for (; !queue_.empty() && answer_.plans.size() < request_.top; queue_.pop()) {
      const Candidate& candidate = queue_.top();
      if (candidate.stage == Stage::kDone && !Superfluous(candidate.changes)) Take(candidate);
    }
  }

  void Take(const Candidate& candidate) {
    answer_.plans.push_back(candidate.plan);
    told_.push_back(LeversOf(candidate.changes));
  }

  // Reports the cheapest combination that fits with all modules checkpointed, or with none.
  void Coarsely() {
    judge_.AllowMore(request_.work);
    std::vector<std::pair<Rank, Changes>> all;
    for (const Changes& changes : Combinations(step_, request_.levers)) {
      if (judge_.stopped()) return;
      all.emplace_back(AtLeast(changes), changes);
      if (modules_.LeastNs() == 0) continue;  // there are none
      Changes with_modules = changes;
      with_modules.push_back({"checkpoint", modules_.AllOfThem()});
      const Rank rank = AtLeast(with_modules);
      all.emplace_back(rank, std::move(with_modules));
    }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [rank, changes] : all) {
      if (judge_.exhausted()) return;
      const Verdict& verdict = judge_.Of(changes, request_.limit);
      if (!verdict.replayed || verdict.needed > request_.limit) continue;
      answer_.plans.push_back({verdict, !Allowed(request_.levers, "checkpoint"), 0});
      return;
    }
  }

  void Push(Candidate candidate) {
    candidate.number = pushed_++;
    queue_.push(std::move(candidate));
  }

  // The time that is known before any replay: the sum of each lever's own time.
  Rank AtLeast(const Changes& changes) {
    double ns = 0;
    for (const whatif::Asked& change : changes) {
      if (change.lever == "empty-cache") continue;
      const auto [known, is_new] = ns_.try_emplace(change.lever + "=" + change.value, 0);
      if (is_new) {
        const Verdict& alone = judge_.LiveOf({change});
        known->second = alone.possible ? alone.rank.extra_ns : 0;
      }
      ns += known->second;
    }
    return RankOf(step_, changes, ns);
  }

  // True if there is a cheaper plan that needs no other levers.
  bool Superfluous(const Changes& changes) const {
    const std::set<std::string> levers = LeversOf(changes);
    return std::any_of(told_.begin(), told_.end(), [&](const std::set<std::string>& told) {
      return std::includes(levers.begin(), levers.end(), told.begin(), told.end());
    });
  }

  void TryPlain(const Candidate& candidate) {
    const Verdict& verdict = judge_.Of(candidate.changes, request_.limit);
    if (!verdict.possible) return;
    if (verdict.replayed && verdict.needed <= request_.limit) {
      Push({verdict.rank, Stage::kDone, candidate.changes, {verdict, true, 0}, 0});
      return;
    }
    Rank rank = candidate.rank;
    const Changes like = {{"checkpoint", "all"}};
    rank.extra_ns += modules_.LeastNs();
    rank.depth += RankOf(step_, like, 0).depth;
    if (Allowed(request_.levers, "checkpoint")) Push({rank, Stage::kModules, candidate.changes, {}, 0});
  }

  // Why a stage of its own: a choice takes tens of replays, and most of the candidates cannot be the
  // cheapest.
  void Bound(const Candidate& candidate) {
    const std::optional<double> least_ns = modules_.AtLeastNs(candidate.changes, request_.limit);
    if (!least_ns) return;
    Candidate bounded = candidate;
    bounded.stage = Stage::kChoice;
    bounded.rank.extra_ns += std::max(0.0, *least_ns - modules_.LeastNs());
    Push(std::move(bounded));
  }

  void TryModules(const Candidate& candidate) {
    const auto choice = modules_.Cheapest(candidate.changes, request_.limit);
    if (!choice) return;
    const Verdict& verdict = *choice->verdict;
    Push({verdict.rank, Stage::kDone, verdict.changes, {verdict, choice->exact, choice->least_ns}, 0});
  }

  Judge& judge_;
  const Request& request_;
  const whatif::Step& step_;
  Answer& answer_;
  ModuleSearch modules_;
  std::priority_queue<Candidate> queue_;
  std::map<std::string, double> ns_;         // of single changes
  std::vector<std::set<std::string>> told_;  // the levers of plans
  uint64_t pushed_ = 0;
};

// Finds the combination that needs least, among those replayed and those that looked best before.
void FindFloor(Judge& judge, Answer& answer) {
  std::vector<const Verdict*> promising;
  for (const auto& [text, verdict] : judge.verdicts()) {
    if (verdict.possible && (!verdict.replayed || verdict.cut_short)) promising.push_back(&verdict);
  }
  std::sort(promising.begin(), promising.end(),
            [](const Verdict* a, const Verdict* b) { return a->at_least < b->at_least; });
  promising.resize(std::min(promising.size(), kFloorReplays));
  for (const Verdict* verdict : promising) (void)judge.Of(Changes(verdict->changes), UINT64_MAX);
  const Verdict* floor = nullptr;
  for (const auto& [text, verdict] : judge.verdicts()) {
    if (verdict.replayed && !verdict.cut_short && (floor == nullptr || verdict.needed < floor->needed))
      floor = &verdict;
  }
  if (floor != nullptr) answer.floor = *floor;
}

}  // namespace

bool Allowed(const std::vector<std::string>& levers, std::string_view lever) {
  return std::find(levers.begin(), levers.end(), lever) != levers.end();
}

std::vector<std::string> AllLevers() {
  std::vector<std::string> names;
  for (const whatif::LeverInfo& lever : whatif::LeverTable()) names.emplace_back(lever.name);
  return names;
}

std::vector<std::string> UsualLevers() {
  std::vector<std::string> names;
  for (const whatif::Lever* lever : whatif::Levers()) names.emplace_back(lever->info().name);
  names.emplace_back("amp");  // a re-run
  return names;
}

std::vector<Changes> Combinations(const whatif::Step& step, const std::vector<std::string>& levers) {
  std::vector<Changes> all = {{}};
  for (const whatif::Lever* lever : whatif::Levers()) {
    const std::string name = lever->info().name;
    if (name == "checkpoint" || !Allowed(levers, name)) continue;
    const size_t before = all.size();
    for (const std::string& value : lever->Settings(step)) {
      for (size_t i = 0; i < before; ++i) {
        Changes changes = all[i];
        changes.push_back({name, value});
        all.push_back(std::move(changes));
      }
    }
  }
  return all;
}

Answer MakePlans(const whatif::Step& step, const whatif::Baseline& baseline, const Request& request) {
  Answer answer;
  whatif::Predictor predictor(step, baseline);
  Judge judge(predictor, request.work, request.need, request.stop);
  const Verdict& as_it_is = judge.Of({}, UINT64_MAX);
  answer.fits_already = as_it_is.replayed && as_it_is.needed <= request.limit;
  if (answer.fits_already)
    answer.plans.push_back({as_it_is, true, 0});
  else
    PlanSearch(judge, request, answer).Run();
  if (answer.plans.empty() && !judge.stopped()) FindFloor(judge, answer);
  answer.replays = judge.replays();
  return answer;
}

}  // namespace vramscope::plan
