// SPDX-License-Identifier: Apache-2.0
// Which modules fully_shard() takes one by one, which parameters are theirs, and where their calls and the
// backward of each are.
#include <algorithm>

#include "profiler/whatif/shard.h"

namespace vramscope::whatif {

using classify::Category;
using model::kNone;

bool Unit::Has(std::string_view name) const {
  return name.starts_with(path) && name.size() > path.size() && name[path.size()] == '.';
}

std::vector<Unit> UnitsOf(const Step& step, const std::vector<uint32_t>& calls) {
  std::vector<Unit> units;
  for (const uint32_t index : calls) {
    const ModuleCall& call = step.modules[index];
    const std::string_view path = step.Text(call.name);
    auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.path == path; });
    if (unit == units.end()) unit = units.insert(unit, {path, {}, {kForever, kBefore}, {}});
    unit->forward.push_back({call.begin, call.end});
  }
  Window whole{kForever, kBefore};
  const Position backward = step.backward.front().begin;
  for (const ModuleCall& call : step.modules) {
    if (call.begin >= backward || call.end > backward) continue;
    whole = {std::min(whole.begin, call.begin), std::max(whole.end, call.end)};
  }
  units.push_back({"", {whole}, {kForever, kBefore}, {}});
  for (Unit& unit : units) unit.backwards.resize(unit.forward.size(), {kForever, kBefore});
  for (const Node& node : step.nodes) {
    if (node.op == kNone || node.begin >= kForever) continue;
    for (Unit& unit : units) {
      for (size_t i = 0; i < unit.forward.size(); ++i) {
        if (node.made <= unit.forward[i].begin || node.made >= unit.forward[i].end) continue;
        for (Window* const window : {&unit.backward, &unit.backwards[i]})
          *window = {std::min(window->begin, node.begin),
                     std::max(window->end, std::min(node.end, step.length))};
      }
    }
  }
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    const StepBlock& block = step.blocks[i];
    const bool trained = std::binary_search(step.trained.begin(), step.trained.end(), i);
    if (!trained && (block.category != Category::kParameter || block.copy_of != kNone)) continue;
    const auto unit =
        std::find_if(units.begin(), units.end() - 1, [&](const Unit& u) { return u.Has(block.name); });
    unit->parameters.push_back(i);
  }
  // Gradients of a unit's parameters may be taken over behind its last node.
  for (Unit& unit : units) {
    for (const StepBlock& block : step.blocks) {
      if (block.accumulated < kForever && unit.Has(block.name))
        unit.backward.end = std::max(unit.backward.end, block.accumulated);
    }
  }
  return units;
}

}  // namespace vramscope::whatif
