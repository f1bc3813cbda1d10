// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/job.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "profiler/fleet/findings.h"

namespace vramscope::fleet {
namespace {

constexpr std::array kKinds = {"out_of_memory", "dead",      "memory", "imbalance", "fragmentation",
                               "outside",       "elsewhere", "growth", "late",      "missing"};

std::vector<uint64_t> Values(const std::vector<RankSummary>& ranks, const std::vector<size_t>& members,
                             std::optional<uint64_t> RankSummary::*figure) {
  std::vector<uint64_t> values;
  for (const size_t member : members)
    if ((ranks[member].*figure).has_value()) values.push_back(*(ranks[member].*figure));
  return values;
}

// The member whose peak is closest to the median. Ranks that ended early come last, because they are not
// typical. On a tie, the rank that grows least is taken.
size_t TypicalOf(const std::vector<RankSummary>& ranks, const PeerGroup& group) {
  size_t best = group.members.front();
  const auto distance = [&](size_t member) {
    const RankSummary& rank = ranks[member];
    const bool whole = rank.ending == Ending::kFinished || rank.ending == Ending::kUnknown;
    const uint64_t median = group.allocated.median;
    const uint64_t far = rank.peak_bytes > median ? rank.peak_bytes - median : median - rank.peak_bytes;
    return std::tuple(!whole, far, rank.growth_per_step);
  };
  for (const size_t member : group.members)
    if (distance(member) < distance(best)) best = member;
  return best;
}

// All later code relies on the order of steps. A recorder keeps it, but a damaged or edited file may not.
void SortSteps(std::vector<StepFigures>& steps) {
  const auto unordered = [](const StepFigures& a, const StepFigures& b) { return a.number >= b.number; };
  const auto less = [](const StepFigures& a, const StepFigures& b) { return a.number < b.number; };
  const auto same = [](const StepFigures& a, const StepFigures& b) { return a.number == b.number; };
  if (std::adjacent_find(steps.begin(), steps.end(), unordered) == steps.end()) return;
  std::stable_sort(steps.begin(), steps.end(), less);
  steps.erase(std::unique(steps.begin(), steps.end(), same), steps.end());
}

// Groups the ranks by their stage, or else by the names of their parameters. If every rank would be in a
// group of its own, nothing could be compared: then all ranks on one kind of device are peers.
void AddGroups(Job& job) {
  const auto kind = [](const RankSummary& rank) { return rank.device.substr(0, rank.device.find(':')); };
  std::map<std::string, std::vector<size_t>> by_model, by_device;
  for (size_t i = 0; i < job.ranks.size(); ++i) {
    const RankSummary& rank = job.ranks[i];
    by_device[kind(rank)].push_back(i);
    const std::string stage = rank.Stage();
    by_model[kind(rank) + (stage.empty() ? "/" + rank.model : ":" + stage)].push_back(i);
  }
  const bool alone = std::all_of(by_model.begin(), by_model.end(), [&](const auto& group) {
    return group.second.size() == 1 && job.ranks[group.second.front()].Stage().empty();
  });
  if (alone && job.ranks.size() > 2)
    job.notes.push_back("Every rank has parameters of its own, so all ranks are compared with each other.");
  for (auto& [name, members] : alone ? by_device : by_model) {
    PeerGroup group;
    group.members = std::move(members);
    std::vector<uint64_t> peaks;
    for (const size_t member : group.members) peaks.push_back(job.ranks[member].peak_bytes);
    group.allocated = SpreadOf(std::move(peaks));
    group.reserved = SpreadOf(Values(job.ranks, group.members, &RankSummary::reserved_bytes));
    group.used = SpreadOf(Values(job.ranks, group.members, &RankSummary::used_bytes));
    group.typical = TypicalOf(job.ranks, group);
    if (!alone) group.stage = job.ranks[group.members.front()].Stage();
    job.groups.push_back(std::move(group));
  }
  std::stable_sort(job.groups.begin(), job.groups.end(), [](const PeerGroup& a, const PeerGroup& b) {
    return a.members.size() > b.members.size();
  });
  job.group_of.resize(job.ranks.size());
  for (size_t group = 0; group < job.groups.size(); ++group)
    for (const size_t member : job.groups[group].members) job.group_of[member] = group;
}

void AddMissing(Job& job) {
  uint32_t world = 0;
  std::set<uint32_t> there;
  std::set<std::string> doubled;
  std::set<uint32_t> sizes;
  for (const RankSummary& rank : job.ranks) {
    world = std::max(world, rank.world_size.value_or(0));
    if (rank.world_size.has_value()) sizes.insert(*rank.world_size);
    if (rank.rank.has_value() && !there.insert(*rank.rank).second) doubled.insert(std::to_string(*rank.rank));
  }
  // The world size comes from the traced program and can be any number, so the list has a limit.
  for (uint32_t rank = 0; rank < world && job.missing.size() < 65536; ++rank)
    if (!there.contains(rank)) job.missing.push_back(rank);
  if (sizes.size() > 1)
    job.notes.push_back("Some files are of a job of " + std::to_string(*sizes.begin()) +
                        " ranks, others of " + std::to_string(*sizes.rbegin()) +
                        ": they may belong to several jobs.");
  if (!doubled.empty())
    job.notes.push_back("Rank " + *doubled.begin() +
                        " appears more than once: the files may belong to several jobs.");
}

// Removes copies of a trace in the same folder, which are not further ranks. A copy has the same process and
// the same start time.
void DropCopies(Job& job) {
  std::map<std::tuple<uint64_t, uint32_t, std::string, std::string, std::optional<uint32_t>>, std::string>
      seen;
  std::vector<std::string> copies;
  std::erase_if(job.ranks, [&](const RankSummary& rank) {
    if (rank.start_realtime_ns == 0 || rank.is_snapshot) return false;
    const auto [first, fresh] =
        seen.try_emplace({rank.start_realtime_ns, rank.pid, rank.host, rank.device, rank.rank}, rank.file);
    if (fresh || first->second == rank.file) return false;
    copies.push_back(rank.file + " is a copy of " + first->second);
    return true;
  });
  if (copies.empty()) return;
  const size_t more = copies.size() - 1;
  job.notes.push_back(copies.front() +
                      (more == 0 ? "" : ", and so are " + std::to_string(more) + " other files") +
                      ". Each recording is compared once.");
}

// If a folder has several jobs, only the one that started last is compared: ranks of different jobs are not
// peers.
void KeepNewestJob(Job& job) {
  std::map<std::string, uint64_t> started;
  for (const RankSummary& rank : job.ranks)
    if (!rank.job.empty()) started[rank.job] = std::max(started[rank.job], rank.start_realtime_ns);
  if (started.size() < 2) return;
  const auto newest = std::max_element(started.begin(), started.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const size_t left_out = std::erase_if(
      job.ranks, [&](const RankSummary& rank) { return !rank.job.empty() && rank.job != newest->first; });
  job.notes.push_back("The files are of " + std::to_string(started.size()) + " jobs. Only the newest, " +
                      newest->first + ", is compared; " + std::to_string(left_out) +
                      (left_out == 1 ? " rank of the others is" : " ranks of the others are") +
                      " left out. Name the files of a job to compare it.");
}

void AddNotes(Job& job) {
  const auto count = [&](auto matches) { return std::count_if(job.ranks.begin(), job.ranks.end(), matches); };
  if (count([](const RankSummary& rank) { return rank.rank_from_name; }) != 0)
    job.notes.emplace_back("Ranks are taken from file names where a file does not contain its rank.");
  if (count([](const RankSummary& rank) { return rank.is_snapshot; }) != 0)
    job.notes.emplace_back(
        "PyTorch snapshots do not record the process, its end, or memory outside PyTorch's allocator.");
}

void AddFirstOut(Job& job) {
  for (size_t i = 0; i < job.ranks.size(); ++i) {
    const std::optional<uint64_t> left = job.ranks[i].steps_left();
    if (!left.has_value() || job.ranks[i].ending == Ending::kOutOfMemory) continue;
    if (job.first_out.has_value() && job.first_out->steps_left <= *left) continue;
    job.first_out = FirstOut{i, *left, std::nullopt};
    if (job.clocks.step_ns != 0) job.first_out->time_left_ns = *left * job.clocks.step_ns;
  }
}

}  // namespace

const char* FindingKey(Finding::Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

Job Compare(std::vector<RankSummary> ranks, const Explainer& explain, size_t explained) {
  Job job;
  job.ranks = std::move(ranks);
  for (RankSummary& rank : job.ranks) SortSteps(rank.steps);
  std::stable_sort(job.ranks.begin(), job.ranks.end(), InOrderOfRank);
  DropCopies(job);
  KeepNewestJob(job);
  std::set<std::string_view> hosts;
  for (const RankSummary& rank : job.ranks) hosts.insert(rank.host);
  job.several_hosts = hosts.size() > 1;
  AddGroups(job);
  AddMissing(job);
  job.clocks = AlignClocks(job.ranks);
  AddFirstOut(job);
  AddFindings(explain, explained, job);
  AddNotes(job);
  return job;
}

}  // namespace vramscope::fleet
