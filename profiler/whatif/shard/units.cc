// SPDX-License-Identifier: Apache-2.0
// The modules that fully_shard() is applied to one by one, their parameters, their calls, and the backward of
// each call.
#include <algorithm>
#include <map>
#include <set>

#include "profiler/text/split.h"
#include "profiler/whatif/shard/shard.h"
#include "profiler/whatif/step/segments.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {

using classify::Category;
using model::kNone;

namespace {

// "stem", "stem.layers", "stem.layers.0" of "stem.layers.0.weight".
std::vector<std::string_view> ModulesAround(std::string_view name) {
  std::vector<std::string_view> paths;
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1))
    paths.push_back(name.substr(0, dot));
  return paths;
}

bool IsNumbered(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('.') + 1);
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Lists with several members whose members consist of other modules, found by the names of parameters.
std::set<std::string_view> ListsOfBlocks(const Step& step) {
  std::map<std::string_view, std::set<std::string_view>> members;
  std::set<std::string_view> composed;
  for (const BlockIndex i : step.blocks.Indices()) {
    if (!IsParameter(step, i)) continue;
    const std::vector<std::string_view> paths = ModulesAround(step.blocks[i].name);
    for (size_t k = 0; k < paths.size(); ++k) {
      if (!IsNumbered(paths[k])) continue;
      members[ParentPath(paths[k])].insert(paths[k]);
      if (k + 1 < paths.size()) composed.insert(ParentPath(paths[k]));
    }
  }
  std::erase_if(composed, [&](std::string_view list) { return members[list].size() < 2; });
  return composed;
}

// The time from the call of the model until its return. A module that the program calls for its loss does not
// count: it has no parameters, and fully_shard() does not hook it.
Window CallOfModel(const Step& step, const std::vector<CallIndex>& calls) {
  const Position backward = step.backward.front().begin;
  std::vector<Position> used;  // where units are called, and where operators receive parameters
  for (const CallIndex call : calls) used.push_back(step.modules[call].begin);
  for (const Op& op : step.ops) {
    if (op.begin < backward && std::ranges::any_of(InputsOf(step, op), [&](const Operand& given) {
          return given.block != kNone && IsParameter(step, given.block);
        }))
      used.push_back(op.begin);
  }
  std::sort(used.begin(), used.end());
  Window whole{kForever, kBefore}, all = whole;
  for (const ModuleCall& call : step.modules) {
    if (call.begin >= backward || call.end > backward) continue;
    all = {std::min(all.begin, call.begin), std::max(all.end, call.end)};
    const auto first = std::lower_bound(used.begin(), used.end(), call.begin);
    if (first == used.end() || *first >= call.end) continue;
    whole = {std::min(whole.begin, call.begin), std::max(whole.end, call.end)};
  }
  return whole.begin < kForever ? whole : all;
}

}  // namespace

bool Unit::Has(std::string_view name) const {
  return name.starts_with(path) && name.size() > path.size() && name[path.size()] == '.';
}

std::vector<std::string_view> UncalledUnits(const Step& step, std::string_view patterns) {
  const std::set<std::string_view> lists = ListsOfBlocks(step);
  const auto is_unit = [&](std::string_view path) {
    if (!patterns.empty()) return BelongsToOne(path, patterns);
    return IsNumbered(path) && lists.contains(ParentPath(path));
  };
  std::vector<bool> used(step.blocks.size(), false);
  for (const Operand& operand : step.operands)
    if (operand.block != kNone) used[operand.block] = true;
  std::vector<std::string_view> units;
  std::set<std::string_view> found, called;
  for (const BlockIndex i : step.blocks.Indices()) {
    if (!IsParameter(step, i)) continue;
    const std::vector<std::string_view> paths = ModulesAround(step.blocks[i].name);
    const auto outermost = std::find_if(paths.begin(), paths.end(), is_unit);
    if (outermost == paths.end()) continue;
    if (used[i]) called.insert(*outermost);
    if (found.insert(*outermost).second) units.push_back(*outermost);
  }
  std::erase_if(units, [&](std::string_view unit) { return called.contains(unit); });
  return units;
}

std::string CalledPatterns(const Step& step, std::string_view patterns,
                           const std::vector<std::string_view>& uncalled) {
  std::string called;
  for (const std::string_view pattern : text::CommaParts(patterns)) {
    const bool ran = std::ranges::any_of(
        step.modules, [&](const ModuleCall& call) { return PathMatches(pattern, step.Text(call.name)); });
    const bool spare =
        std::ranges::any_of(uncalled, [&](std::string_view unit) { return BelongsToOne(unit, pattern); });
    if (ran || !spare) called += (called.empty() ? "" : ",") + std::string(pattern);
  }
  return called;
}

std::vector<Unit> UnitsOf(const Step& step, const std::vector<CallIndex>& calls,
                          const std::vector<std::string_view>& uncalled) {
  std::vector<Unit> units;
  for (const CallIndex index : calls) {
    const ModuleCall& call = step.modules[index];
    const std::string_view path = step.Text(call.name);
    auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.path == path; });
    if (unit == units.end()) unit = units.insert(unit, {path, {}, {kForever, kBefore}, {}});
    unit->forward.push_back({call.begin, call.end});
  }
  for (const std::string_view path : uncalled) {
    if (std::none_of(units.begin(), units.end(), [&](const Unit& u) { return u.path == path; }))
      units.push_back({path, {}, {kForever, kBefore}, {}});
  }
  units.push_back({"", {CallOfModel(step, calls)}, {kForever, kBefore}, {}});
  for (Unit& unit : units) unit.backwards.resize(unit.forward.size(), {kForever, kBefore});
  for (const Node& node : step.nodes) {
    if (node.op == kNone || node.begin >= kForever) continue;
    for (Unit& unit : units) {
      for (size_t i = 0; i < unit.forward.size(); ++i) {
        if (node.made <= unit.forward[i].begin || node.made >= unit.forward[i].end) continue;
        for (Window* const window : {&unit.backward, &unit.backwards[i]})
          *window = {std::min(window->begin, node.begin),
                     std::max(window->end, std::min<Position>(node.end, step.length))};
      }
    }
  }
  for (const BlockIndex i : step.blocks.Indices()) {
    const StepBlock& block = step.blocks[i];
    if (!IsParameter(step, i)) continue;
    const auto unit =
        std::find_if(units.begin(), units.end() - 1, [&](const Unit& u) { return u.Has(block.name); });
    unit->parameters.push_back(i);
  }
  // Gradients of a unit's parameters may be accumulated after its last node.
  for (Unit& unit : units) {
    for (const StepBlock& block : step.blocks) {
      if (block.accumulated < kForever && unit.Has(block.name))
        unit.backward.end = std::max(unit.backward.end, block.accumulated);
    }
  }
  return units;
}

std::vector<const Unit*> AsModulesLie(const Step& step, const std::vector<Unit>& units) {
  std::map<const Unit*, Position> came;
  for (const BlockIndex i : step.blocks.Indices()) {
    const StepBlock& block = step.blocks[i];
    if (block.begin != kBefore || block.id >= step.run->blocks.size()) continue;
    if (block.category != Category::kParameter && block.category != Category::kBuffer) continue;
    const auto unit =
        std::find_if(units.begin(), units.end() - 1, [&](const Unit& one) { return one.Has(block.name); });
    if (unit == units.end() - 1) continue;
    const Position at = SetUpAt(step, i);
    const auto [first, fresh] = came.emplace(&*unit, at);
    if (!fresh) first->second = std::min(first->second, at);
  }
  std::vector<const Unit*> order;
  for (const Unit& unit : units) {
    if (came.contains(&unit) || &unit == &units.back()) order.push_back(&unit);
  }
  std::stable_sort(order.begin(), order.end() - 1,
                   [&](const Unit* a, const Unit* b) { return came.at(a) < came.at(b); });
  return order;
}

Position NextPassed(const std::vector<Unit>& units, Position at) {
  Position next = kForever;
  for (const Unit& unit : units) {
    if (&unit == &units.back() || unit.parameters.empty()) continue;
    for (const Window& one : unit.backwards) {
      const bool last = std::ranges::none_of(unit.backwards, [&](const Window& other) {
        return other.begin < kForever && other.begin > one.begin;
      });
      if (!last && one.end > at) next = std::min(next, one.end);
    }
  }
  return next;
}

}  // namespace vramscope::whatif
