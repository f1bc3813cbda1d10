// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/heat_map.h"

#include <algorithm>

namespace vramscope::fleet {

HeatMap HeatMapOf(const Job& job) {
  HeatMap heat;
  uint32_t first = UINT32_MAX;
  uint32_t last = 0;
  for (const RankSummary& rank : job.ranks) {
    for (const StepFigures& step : rank.steps) {
      first = std::min(first, step.number);
      last = std::max(last, step.number);
    }
  }
  if (first > last) return heat;
  heat.first_step = first;
  heat.steps_per_column = (last - first) / HeatMap::kMostColumns + 1;
  const uint32_t columns = (last - first) / heat.steps_per_column + 1;
  heat.ranks_per_row = (job.ranks.size() - 1) / HeatMap::kMostRows + 1;
  for (size_t begin = 0; begin < job.ranks.size(); begin += heat.ranks_per_row) {
    const size_t end = std::min(begin + heat.ranks_per_row, job.ranks.size());
    HeatMap::Row row{job.NameOf(begin), std::vector<uint64_t>(columns)};
    if (end - begin > 1) row.name += " to " + job.NameOf(end - 1);
    for (size_t rank = begin; rank < end; ++rank) {
      for (const StepFigures& step : job.ranks[rank].steps) {
        uint64_t& cell = row.bytes[(step.number - first) / heat.steps_per_column];
        cell = std::max(cell, step.peak_bytes);
      }
    }
    heat.rows.push_back(std::move(row));
  }
  return heat;
}

}  // namespace vramscope::fleet
