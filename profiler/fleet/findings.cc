// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "profiler/fleet/step_spreads.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "profiler/text/shell_word.h"

namespace vramscope::fleet {
namespace {

constexpr size_t kFewestPeers = 3;  // if two ranks differ, it is not known which one is unusual
constexpr size_t kMostNamed = 6;

std::string Percent(uint64_t part, uint64_t whole) {
  return fmt::format("{:.0f} %",
                     whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

uint64_t Above(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

class Finder {
 public:
  Finder(const Explainer& explain, size_t explained, Job& job)
      : explain_(explain), explained_(explained), job_(job) {}

  void Find() {
    FindEndings();
    for (size_t i = 0; i < job_.ranks.size(); ++i) FindOutlier(i);
    ExplainMemory();
    FindImbalance();
    FindElsewhere();
    for (size_t i = 0; i < job_.ranks.size(); ++i) FindGrowth(i);
    for (size_t i = 0; i < job_.ranks.size(); ++i) FindLate(i);
    FindMissing();
    std::stable_sort(job_.findings.begin(), job_.findings.end(), [](const Finding& a, const Finding& b) {
      const auto key = [](const Finding& finding) {
        return std::pair(finding.kind, -std::abs(finding.bytes));
      };
      return key(a) < key(b);
    });
  }

 private:
  Finding& Add(Finding::Kind kind, std::vector<size_t> ranks, std::string text, int64_t bytes = 0) {
    Finding finding;
    finding.kind = kind;
    finding.ranks = std::move(ranks);
    finding.text = std::move(text);
    finding.bytes = bytes;
    job_.findings.push_back(std::move(finding));
    return job_.findings.back();
  }
  [[nodiscard]] const PeerGroup& GroupOf(size_t rank) const { return job_.groups[job_.group_of[rank]]; }

  static bool EndedBadly(const RankSummary& rank) {
    return rank.ending != Ending::kUnknown && rank.ending != Ending::kFinished;
  }

  static bool WasStopped(const RankSummary& rank) {
    return rank.ending == Ending::kKilled && rank.ending_text.starts_with("killed by signal 15 ");
  }

  // When one rank fails, launchers stop all others. The stopped ranks are not the cause, so they share one
  // finding.
  void FindEndings() {
    const bool any_cause = std::any_of(job_.ranks.begin(), job_.ranks.end(), [](const RankSummary& rank) {
      return EndedBadly(rank) && !WasStopped(rank);
    });
    std::vector<size_t> stopped;
    for (size_t i = 0; i < job_.ranks.size(); ++i) {
      if (any_cause && WasStopped(job_.ranks[i]))
        stopped.push_back(i);
      else
        FindEnding(i);
    }
    if (stopped.empty()) return;
    const std::string text = Names(stopped) + (stopped.size() == 1 ? " was" : " were") +
                             " stopped by SIGTERM, as launchers do once a rank has failed.";
    Add(Finding::Kind::kDead, std::move(stopped), text);
  }

  void FindEnding(size_t i) {
    const RankSummary& rank = job_.ranks[i];
    if (!EndedBadly(rank)) return;
    const bool out_of_memory = rank.ending == Ending::kOutOfMemory;
    std::string text = job_.NameOf(i);
    switch (rank.ending) {
      case Ending::kOutOfMemory:
        text += " ran out of memory";
        break;
      case Ending::kCutOff:
        text += " has a recording that was cut off";
        break;
      default:
        text += " ended badly";
    }
    const bool finished = !rank.steps.empty() && rank.steps.back().number == rank.ending_step;
    if (rank.ending_step != 0)
      text += fmt::format(" {} step {}", finished ? "after" : "in", rank.ending_step);
    if (!rank.ending_text.empty()) text += ": " + text::OneLine(rank.ending_text);
    Add(out_of_memory ? Finding::Kind::kOutOfMemory : Finding::Kind::kDead, {i}, text + ".");
  }

  void FindOutlier(size_t i) {
    const PeerGroup& group = GroupOf(i);
    const RankSummary& rank = job_.ranks[i];
    if (group.members.size() < kFewestPeers) return;
    // A rank that ended early may not have reached its peak.
    const bool below = rank.peak_bytes < group.allocated.median;
    if (group.allocated.StandsOut(rank.peak_bytes) && !(below && EndedBadly(rank))) {
      AddMemory(i, group);
      return;
    }
    if (rank.reserved_bytes.has_value() && group.reserved.StandsOut(*rank.reserved_bytes) &&
        *rank.reserved_bytes > group.reserved.median) {
      const uint64_t more = *rank.reserved_bytes - group.reserved.median;
      Add(Finding::Kind::kFragmentation, {i},
          fmt::format("{} reserves {} more than its peers ({}) for the same peak of allocated memory: "
                      "fragmentation. vramscope frag {} shows what pins this memory.",
                      job_.NameOf(i), text::FormatBytes(more), Percent(more, group.reserved.median),
                      SubjectOf(rank)),
          static_cast<int64_t>(more));
      return;
    }
    FindOutside(i, group);
  }

  // The command-line arguments that select this rank.
  [[nodiscard]] std::string SubjectOf(const RankSummary& rank) const {
    std::string subject = text::ShellWord(rank.file);
    const auto in_file = std::count_if(job_.ranks.begin(), job_.ranks.end(),
                                       [&](const RankSummary& one) { return one.file == rank.file; });
    if (in_file > 1 && rank.rank.has_value()) subject += fmt::format(" --rank {}", *rank.rank);
    return subject;
  }

  void AddMemory(size_t i, const PeerGroup& group) {
    const uint64_t peak = job_.ranks[i].peak_bytes;
    const uint64_t median = group.allocated.median;
    const bool more = peak > median;
    const uint64_t bytes = Above(peak, median) + Above(median, peak);
    Finding& finding =
        Add(Finding::Kind::kMemory, {i},
            fmt::format("{} peaks {} {} its peers ({}{})", job_.NameOf(i), text::FormatBytes(bytes),
                        more ? "above" : "below", more ? "+" : "-", Percent(bytes, median)),
            more ? static_cast<int64_t>(bytes) : -static_cast<int64_t>(bytes));
    finding.since_step = step_spreads_.StandsOutSince(i);
  }

  // Completes the findings of AddMemory(). The explained_ largest differences also get a cause.
  void ExplainMemory() {
    std::vector<Finding*> found;
    for (Finding& finding : job_.findings)
      if (finding.kind == Finding::Kind::kMemory) found.push_back(&finding);
    std::stable_sort(found.begin(), found.end(), [](const Finding* a, const Finding* b) {
      return std::abs(a->bytes) > std::abs(b->bytes);
    });
    std::vector<Question> questions;
    std::vector<size_t> asked;
    for (size_t i = 0; i < found.size() && explain_ && asked.size() < explained_; ++i) {
      const size_t rank = found[i]->ranks.front();
      const size_t typical = GroupOf(rank).typical;
      if (rank == typical) continue;
      questions.push_back({&job_.ranks[typical], &job_.ranks[rank], found[i]->bytes > 0});
      asked.push_back(i);
    }
    std::vector<Explanation> answers(found.size());
    if (!questions.empty()) {
      std::vector<std::optional<Explanation>> known = explain_(questions);
      for (size_t i = 0; i < asked.size(); ++i)
        if (known[i].has_value()) answers[asked[i]] = std::move(*known[i]);
    }
    for (size_t i = 0; i < found.size(); ++i) Finish(answers[i], *found[i]);
  }

  static void Finish(const Explanation& explanation, Finding& finding) {
    finding.category = explanation.category;
    finding.module = explanation.module;
    finding.line = explanation.line;
    finding.cause = explanation.cause;
    if (!explanation.text.empty()) finding.text += ": " + explanation.text;
    if (finding.since_step != 0) finding.text += fmt::format(", since step {}", finding.since_step);
    finding.text += ".";
    if (finding.cause.empty()) return;
    finding.text += " " + text::Shorten(text::OneLine(finding.cause), 120, false) + ".";
  }

  void FindOutside(size_t i, const PeerGroup& group) {
    std::vector<uint64_t> all;
    for (const size_t member : group.members)
      if (job_.ranks[member].outside_bytes.has_value()) all.push_back(*job_.ranks[member].outside_bytes);
    const std::optional<uint64_t> own = job_.ranks[i].outside_bytes;
    if (!own.has_value() || all.size() < kFewestPeers) return;
    const Spread spread = SpreadOf(std::move(all));
    if (!spread.StandsOut(*own) || *own < spread.median) return;
    const uint64_t more = *own - spread.median;
    Add(Finding::Kind::kOutside, {i},
        fmt::format("{} takes {} more than its peers outside PyTorch's allocator ({} instead of {}).",
                    job_.NameOf(i), text::FormatBytes(more), text::FormatBytes(*own),
                    text::FormatBytes(spread.median)),
        static_cast<int64_t>(more));
  }

  // The stage with the highest peak limits the job. All other stages have unused memory.
  void FindImbalance() {
    constexpr double kLeast = 0.1;  // stages are never equal: the first one has the embedding
    const PeerGroup* fullest = nullptr;
    const PeerGroup* lightest = nullptr;
    const bool stages = std::any_of(job_.groups.begin(), job_.groups.end(),
                                    [](const PeerGroup& group) { return !group.stage.empty(); });
    for (const PeerGroup& group : job_.groups) {
      if (stages ? group.stage.empty() : group.members.size() < 2) continue;
      const uint64_t median = group.allocated.median;
      if (fullest == nullptr || median > fullest->allocated.median) fullest = &group;
      if (lightest == nullptr || median < lightest->allocated.median) lightest = &group;
    }
    if (fullest == nullptr || fullest == lightest) return;
    const uint64_t most = fullest->allocated.median;
    const uint64_t least = lightest->allocated.median;
    if (static_cast<double>(most - least) < kLeast * static_cast<double>(least)) return;
    if (!stages) {
      AddUnlike(*fullest, *lightest);
      return;
    }
    const bool experts = fullest->stage.substr(0, fullest->stage.find(' ')) ==
                             lightest->stage.substr(0, lightest->stage.find(' ')) &&
                         fullest->stage.starts_with("e");
    Add(Finding::Kind::kImbalance, fullest->members,
        fmt::format("The ranks at {} peak at {}; the ranks at {} peak at {} ({:+.0f} %). {}.", fullest->stage,
                    text::FormatBytes(most), lightest->stage, text::FormatBytes(least),
                    least == 0 ? 0.0 : 100.0 * static_cast<double>(most - least) / static_cast<double>(least),
                    experts ? "The first group has more experts, or its experts get more tokens"
                            : "To balance them, move layers from the first group to the second"),
        static_cast<int64_t>(most - least));
  }

  // The program names no stages, but the two groups have different parameters.
  void AddUnlike(const PeerGroup& fullest, const PeerGroup& lightest) {
    const uint64_t most = fullest.allocated.median;
    const uint64_t least = lightest.allocated.median;
    Add(Finding::Kind::kImbalance, fullest.members,
        fmt::format("{} peak at {}, {} at {} (+{}): their parameters differ. If these ranks are pipeline "
                    "stages, move layers from the first group to the second.",
                    Names(fullest.members), text::FormatBytes(most), Names(lightest.members),
                    text::FormatBytes(least), Percent(most - least, least)),
        static_cast<int64_t>(most - least));
  }

  // Finds memory on the device of another rank of the same host. Usually it is a CUDA context that a call
  // without a device index created on GPU 0.
  void FindElsewhere() {
    std::map<size_t, std::vector<std::pair<size_t, uint64_t>>> guests;  // by owner of the device
    for (size_t i = 0; i < job_.ranks.size(); ++i) {
      for (const Elsewhere& there : job_.ranks[i].elsewhere) {
        const auto owner = OwnerOf(i, there.device);
        if (owner.has_value()) guests[*owner].emplace_back(i, there.bytes);
      }
    }
    for (const auto& [owner, of_owner] : guests) {
      uint64_t bytes = 0;
      std::vector<size_t> ranks;
      for (const auto& [rank, held] : of_owner) {
        bytes += held;
        ranks.push_back(rank);
      }
      std::string names = Names(ranks);
      const std::string verb = ranks.size() == 1 ? "holds" : "hold";
      Add(Finding::Kind::kElsewhere, std::move(ranks),
          fmt::format(
              "{} also {} {} on {}, the device of {}. Unless this was intended, it is an extra CUDA context.",
              names, verb, text::FormatBytes(bytes), job_.ranks[owner].device, job_.NameOf(owner)),
          static_cast<int64_t>(bytes));
    }
  }

  // The rank whose device this is. Snapshots do not record the host. So if several ranks have this device,
  // the owner is not known: they may be on different machines, or each may see only one GPU.
  [[nodiscard]] std::optional<size_t> OwnerOf(size_t guest, const std::string& device) const {
    const RankSummary& own = job_.ranks[guest];
    std::optional<size_t> owner;
    for (size_t i = 0; i < job_.ranks.size(); ++i) {
      const RankSummary& rank = job_.ranks[i];
      const bool same_process = rank.file == own.file && rank.pid == own.pid;
      if (same_process || rank.device != device || rank.host != own.host) continue;
      if (rank.is_snapshot != own.is_snapshot) continue;
      if (own.is_snapshot && owner.has_value()) return std::nullopt;
      if (!owner.has_value()) owner = i;
    }
    return owner;
  }

  // "rank 3", "ranks 1, 2, 3", "ranks 1 to 7"
  [[nodiscard]] std::string Names(const std::vector<size_t>& ranks) const {
    if (ranks.size() == 1) return job_.NameOf(ranks.front());
    bool row = true;
    for (size_t i = 0; i < ranks.size(); ++i)
      row &= job_.ranks[ranks[i]].rank == job_.ranks[ranks[0]].rank.value_or(0) + static_cast<uint32_t>(i);
    if (row && ranks.size() > 2)
      return fmt::format("ranks {} to {}", *job_.ranks[ranks.front()].rank, *job_.ranks[ranks.back()].rank);
    std::string names;
    for (size_t i = 0; i < std::min(ranks.size(), kMostNamed); ++i)
      names += (i == 0 ? "" : ", ") + job_.NameOf(ranks[i]);
    return ranks.size() > kMostNamed ? names + fmt::format(" and {} more", ranks.size() - kMostNamed) : names;
  }

  void FindGrowth(size_t i) {
    const RankSummary& rank = job_.ranks[i];
    if (rank.growth_per_step == 0) return;
    std::vector<uint64_t> all;
    for (const size_t member : GroupOf(i).members) all.push_back(job_.ranks[member].growth_per_step);
    const Spread spread = SpreadOf(std::move(all));
    const bool all_grow = spread.median != 0;
    if (all_grow && i != GroupOf(i).typical && !spread.StandsOut(rank.growth_per_step)) return;
    std::string text =
        fmt::format("{} grows by {} a step", job_.NameOf(i), text::FormatBytes(rank.growth_per_step));
    if (!rank.growth_line.empty()) text += ", " + text::Shorten(text::OneLine(rank.growth_line), 120, false);
    if (!rank.growth_module.empty())
      text += " in " + text::Shorten(text::OneLine(rank.growth_module), 120, false);
    if (rank.growth_since > 1) text += fmt::format(", since step {}", rank.growth_since);
    if (all_grow && i == GroupOf(i).typical && GroupOf(i).members.size() > 1) text += ", and so do its peers";
    text += ".";
    if (const auto left = rank.steps_left())
      text += fmt::format(" It runs out of memory in {}.", text::FormatCount(*left, "step"));
    Finding& finding =
        Add(Finding::Kind::kGrowth, {i}, std::move(text), static_cast<int64_t>(rank.growth_per_step));
    finding.line = rank.growth_line;
    finding.module = rank.growth_module;
    finding.since_step = rank.growth_since;
  }

  void FindLate(size_t i) {
    const Timing& timing = job_.clocks.ranks[i];
    if (!timing.behind_ns.has_value() || EndedBadly(job_.ranks[i])) return;
    const auto half_a_step = static_cast<int64_t>(job_.clocks.step_ns / 2);
    const bool late = *timing.behind_ns > std::max<int64_t>(half_a_step, 1'000'000);
    if (!late && timing.steps_behind < 2) return;
    std::string text = fmt::format("{} is late", job_.NameOf(i));
    if (*timing.behind_ns > 0)
      text += fmt::format(": it ends its steps {} after the others",
                          text::FormatDuration(static_cast<uint64_t>(*timing.behind_ns)));
    if (timing.steps_behind != 0)
      text +=
          fmt::format("{} {} behind when the others ended", *timing.behind_ns > 0 ? " and was" : ": it was",
                      text::FormatCount(timing.steps_behind, "step"));
    Add(Finding::Kind::kLate, {i}, text + ".");
  }

  void FindMissing() {
    if (job_.missing.empty()) return;
    std::string names;
    for (size_t i = 0; i < std::min(job_.missing.size(), kMostNamed); ++i)
      names += fmt::format("{}{}", i == 0 ? "" : ", ", job_.missing[i]);
    if (job_.missing.size() > kMostNamed)
      names += fmt::format(" and {} more", job_.missing.size() - kMostNamed);
    Add(Finding::Kind::kMissing, {},
        fmt::format("No file has {} {}.", job_.missing.size() == 1 ? "rank" : "ranks", names));
  }

  const Explainer& explain_;
  size_t explained_;
  Job& job_;
  StepSpreads step_spreads_{job_};
};

}  // namespace

void AddFindings(const Explainer& explain, size_t explained, Job& job) {
  Finder(explain, explained, job).Find();
}

}  // namespace vramscope::fleet
