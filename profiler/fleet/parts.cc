// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/parts.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace vramscope::fleet {
namespace {

std::optional<uint64_t> Most(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  return std::max(a, b);  // nullopt is less than any number
}

// The steps of both, by number. If both have a step, the one in `first` is used.
std::vector<StepFigures> Union(const std::vector<StepFigures>& first,
                               const std::vector<StepFigures>& second) {
  std::vector<StepFigures> steps;
  std::set_union(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(steps),
                 [](const StepFigures& a, const StepFigures& b) { return a.number < b.number; });
  return steps;
}

void AddPeaks(const RankSummary& later, RankSummary& rank) {
  if (later.peak_bytes > rank.peak_bytes) {
    rank.file = later.file;  // the file with the peak, which Explain() opens
    rank.from_summary = later.from_summary;
    rank.peak_bytes = later.peak_bytes;
    rank.peak_step = later.peak_step;
    rank.peak_phase = later.peak_phase;
    rank.categories = later.categories;
    rank.outside_bytes = later.outside_bytes;
  }
  if (later.reserved_bytes > rank.reserved_bytes) rank.unused_bytes = later.unused_bytes;
  rank.reserved_bytes = Most(rank.reserved_bytes, later.reserved_bytes);
  rank.used_bytes = Most(rank.used_bytes, later.used_bytes);
  rank.capacity_bytes = Most(rank.capacity_bytes, later.capacity_bytes);
  for (const Elsewhere& there : later.elsewhere) {
    const auto known = std::find_if(rank.elsewhere.begin(), rank.elsewhere.end(),
                                    [&](const Elsewhere& one) { return one.device == there.device; });
    if (known == rank.elsewhere.end())
      rank.elsewhere.push_back(there);
    else
      known->bytes = std::max(known->bytes, there.bytes);
  }
}

}  // namespace

void AddPart(RankSummary later, RankSummary& rank) {
  AddPeaks(later, rank);
  rank.last_file = later.last_file.empty() ? later.file : std::move(later.last_file);
  rank.last_bytes = later.last_bytes;
  rank.last_reserved_bytes = later.last_reserved_bytes;
  rank.last_used_bytes = later.last_used_bytes;
  // The part with more steps gives the better estimate of growth.
  if (later.steps.size() >= rank.steps.size()) {
    const uint32_t since = later.growth_per_step != 0 && rank.growth_per_step != 0
                               ? std::min(rank.growth_since, later.growth_since)
                               : later.growth_since;
    rank.growth_per_step = later.growth_per_step;
    rank.growth_line = std::move(later.growth_line);
    rank.growth_module = std::move(later.growth_module);
    rank.growth_since = since;
  }
  rank.ending = later.ending;
  rank.ending_text = std::move(later.ending_text);
  rank.ending_step = later.ending_step;
  rank.last_ns = std::max(rank.last_ns, later.last_ns);
  rank.part = std::max(rank.part, later.part);
  if (rank.model.empty()) rank.model = std::move(later.model);
  if (rank.gpu_uuid.empty()) rank.gpu_uuid = std::move(later.gpu_uuid);
  if (rank.mesh.empty()) rank.mesh = std::move(later.mesh);
  rank.steps = Union(rank.steps, later.steps);
}

void JoinParts(std::vector<RankSummary>& ranks) {
  const bool any =
      std::any_of(ranks.begin(), ranks.end(), [](const RankSummary& rank) { return rank.part != 0; });
  if (!any) return;
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const RankSummary& a, const RankSummary& b) { return a.part < b.part; });
  using Recording = std::tuple<std::string, uint32_t, uint64_t, std::string>;
  std::map<Recording, size_t> first;
  std::vector<RankSummary> joined;
  for (RankSummary& rank : ranks) {
    if (rank.part != 0) {
      const auto [known, fresh] = first.try_emplace(
          Recording(rank.host, rank.pid, rank.start_realtime_ns, rank.device), joined.size());
      if (!fresh) {
        AddPart(std::move(rank), joined[known->second]);
        continue;
      }
    }
    joined.push_back(std::move(rank));
  }
  ranks = std::move(joined);
}

}  // namespace vramscope::fleet
