// SPDX-License-Identifier: Apache-2.0
#include "profiler/growth/place.h"

#include <algorithm>
#include <vector>

#include "profiler/growth/growth.h"
#include "profiler/text/frame.h"

namespace vramscope::growth {

std::string_view Places::LineOf(uint32_t stack) {
  const auto [known, fresh] = lines_.try_emplace(stack);
  if (!fresh) return known->second;
  std::vector<std::string_view> frames;
  for (const trace::StringId frame : run_.source->Stack(stack)) frames.push_back(run_.Text(frame));
  std::reverse(frames.begin(), frames.end());
  return known->second = text::TellingFrame(frames);
}

Place Places::Of(model::BlockId id, const classify::Origin& origin, Keeper keeper) {
  const model::Block& block = run_.blocks[id];
  const model::Birthplace& birth = run_.contexts.PlaceOf(origin.context);
  Place place;
  place.line = LineOf(origin.stack);
  place.module = run_.Text(birth.module);
  place.op = run_.Text(birth.node != 0 ? birth.node : birth.op);
  place.phase = timeline::PhaseOf(training_.PartOf(block.thread, block.alloc_event));
  place.keeper = keeper;
  return place;
}

}  // namespace vramscope::growth
