// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/step_spreads.h"

#include <utility>

#include "profiler/fleet/in_step.h"

namespace vramscope::fleet {

uint32_t StepSpreads::StandsOutSince(size_t rank) {
  const std::vector<StepFigures>& own = job_.ranks[rank].steps;
  auto usual = Of(job_.group_of[rank]).rbegin();
  size_t begin = own.size();
  for (; begin > 0; --begin) {
    const StepFigures& step = own[begin - 1];
    while (usual->number != step.number) ++usual;  // the rank is in its group, so the number exists
    if (!usual->peak.StandsOut(step.peak_bytes)) break;
  }
  return begin == own.size() || begin == 0 ? 0 : own[begin].number;
}

const std::vector<StepSpreads::StepSpread>& StepSpreads::Of(size_t group) {
  const auto [known, fresh] = of_group_.try_emplace(group);
  std::vector<StepSpread>& spreads = known->second;
  if (!fresh) return spreads;
  std::vector<const std::vector<StepFigures>*> members;
  for (const size_t member : job_.groups[group].members) members.push_back(&job_.ranks[member].steps);
  InStep(
      members, [](const StepFigures& step) { return step.number; },
      [&](uint32_t number, const std::vector<const StepFigures*>& steps) {
        std::vector<uint64_t> peaks;
        for (const StepFigures* step : steps) peaks.push_back(step->peak_bytes);
        spreads.push_back({number, SpreadOf(std::move(peaks))});
      });
  return spreads;
}

}  // namespace vramscope::fleet
