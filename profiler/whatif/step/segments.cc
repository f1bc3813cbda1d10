// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/segments.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "profiler/text/number.h"
#include "profiler/text/split.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

bool IsNumber(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view LastName(std::string_view path) { return path.substr(path.rfind('.') + 1); }

// Splits the first name off the path.
std::string_view TakeName(std::string_view& path) {
  const size_t dot = path.find('.');
  const std::string_view name = path.substr(0, dot);
  path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
  return name;
}

using Wanted = std::function<bool(CallIndex call)>;

// Calls in forward that match.
std::vector<CallIndex> All(const Step& step, const Wanted& wanted) {
  const Position backward = step.ForwardEnd();
  std::vector<CallIndex> chosen;
  for (const CallIndex i : step.modules.Indices()) {
    if (step.modules[i].end <= backward && wanted(i)) chosen.push_back(i);
  }
  return chosen;
}

// `calls`, in order, without those inside another one.
std::vector<CallIndex> Outermost(const Step& step, std::vector<CallIndex> calls) {
  Position behind = kBefore;
  std::erase_if(calls, [&](CallIndex i) {
    if (step.modules[i].begin < behind) return true;
    behind = step.modules[i].end;
    return false;
  });
  return calls;
}

std::vector<CallIndex> Outermost(const Step& step, const Wanted& wanted) {
  return Outermost(step, All(step, wanted));
}

std::vector<CallIndex> ByOwnSwitch(const Step& step) {
  const std::set<std::string_view> paths(step.own_switch.begin(), step.own_switch.end());
  return Outermost(step, [&](CallIndex i) { return paths.contains(step.Text(step.modules[i].name)); });
}

std::vector<CallIndex> BlocksOf(const Step& step) {
  std::map<std::string_view, uint32_t> numbered;  // by parent path: its numbered children
  std::vector<bool> composed(step.modules.size(), false);
  std::map<std::string_view, bool> seen;
  for (const ModuleCall& call : step.modules) {
    const std::string_view path = step.Text(call.name);
    if (call.parent != kNone) composed[call.parent] = true;
    if (IsNumber(LastName(path)) && seen.emplace(path, true).second) ++numbered[ParentPath(path)];
  }
  return Outermost(step, [&](CallIndex i) {
    const std::string_view path = step.Text(step.modules[i].name);
    return composed[i] && IsNumber(LastName(path)) && numbered[ParentPath(path)] >= 2;
  });
}

// True if the parameter, or a module on the path to it, matches the pattern.
bool Belongs(std::string_view name, std::string_view pattern) {
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    if (PathMatches(pattern, name.substr(0, dot))) return true;
  }
  return PathMatches(pattern, name);
}

// Names below this depth are counted under the module at this depth: a name may have a million dots.
constexpr size_t kDeepestPath = 64;

std::string_view FirstNames(std::string_view path, size_t most) {
  size_t dot = path.find('.');
  for (size_t names = 1; dot != std::string_view::npos && names < most; ++names)
    dot = path.find('.', dot + 1);
  return path.substr(0, dot);
}

// Nodes by path. An intermediate node is created with the first node below it.
class TreeBuilder {
 public:
  ModuleNode& At(std::string_view path) { return nodes_[Index(FirstNames(path, kDeepestPath))]; }
  void AddKept(std::string_view path, uint64_t bytes) {
    for (uint32_t i = Index(FirstNames(path, kDeepestPath)); i != kNone; i = nodes_[i].parent)
      nodes_[i].kept += bytes;
  }

  [[nodiscard]] std::vector<ModuleNode> InOrder() const {
    std::vector<std::vector<uint32_t>> below(nodes_.size());
    std::vector<uint32_t> open;
    for (uint32_t i = static_cast<uint32_t>(nodes_.size()); i-- > 0;) {
      if (nodes_[i].parent == kNone)
        open.push_back(i);
      else
        below[nodes_[i].parent].push_back(i);
    }
    std::vector<ModuleNode> ordered;
    std::vector<uint32_t> place(nodes_.size(), kNone);
    while (!open.empty()) {
      const uint32_t next = open.back();
      open.pop_back();
      place[next] = static_cast<uint32_t>(ordered.size());
      ordered.push_back(nodes_[next]);
      if (nodes_[next].parent != kNone) ordered.back().parent = place[nodes_[next].parent];
      open.insert(open.end(), below[next].begin(), below[next].end());
    }
    return ordered;
  }

 private:
  uint32_t Index(std::string_view path) {
    const auto found = places_.find(path);
    if (found != places_.end()) return found->second;
    ModuleNode node;
    node.path = path;
    if (const std::string_view above = ParentPath(path); !above.empty()) {
      node.parent = Index(above);
      node.depth = nodes_[node.parent].depth + 1;
    }
    const auto index = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back(std::move(node));
    return places_.emplace(path, index).first->second;
  }

  std::vector<ModuleNode> nodes_;  // parents first
  std::map<std::string, uint32_t, std::less<>> places_;
};

}  // namespace

std::string_view ParentPath(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? "" : path.substr(0, dot);
}

std::vector<CallIndex> ListMembers(const Step& step) {
  std::set<std::string_view> lists;
  for (const CallIndex block : BlocksOf(step)) lists.insert(ParentPath(step.Text(step.modules[block].name)));
  return Outermost(step, [&](CallIndex i) {
    const std::string_view path = step.Text(step.modules[i].name);
    return IsNumber(LastName(path)) && lists.count(ParentPath(path)) != 0;
  });
}

bool PathMatches(std::string_view pattern, std::string_view path) {
  while (!pattern.empty() && !path.empty()) {
    const std::string_view wanted = TakeName(pattern);
    const std::string_view name = TakeName(path);
    if (wanted != "*" && wanted != name) return false;
  }
  return pattern.empty() && path.empty();
}

std::vector<std::string> CheckpointFamilies(const Step& step) {
  const std::vector<CallIndex> blocks = BlocksOf(step);
  std::vector<std::string> families;
  if (blocks.empty()) return families;
  constexpr size_t kSparsest = 4;
  for (size_t every = std::min(kSparsest, blocks.size() - 1); every >= 2; --every)
    families.push_back("every:" + std::to_string(every));
  std::vector<std::string> lists;
  for (const CallIndex block : blocks) {
    const std::string list = std::string(ParentPath(step.Text(step.modules[block].name))) + ".*";
    if (std::find(lists.begin(), lists.end(), list) == lists.end()) lists.push_back(list);
  }
  if (lists.size() > 1) families.insert(families.end(), lists.begin(), lists.end());
  families.emplace_back("all");
  return families;
}

std::vector<std::string> CheckpointUnits(const Step& step) {
  std::vector<CallIndex> calls = BlocksOf(step);
  if (calls.empty()) {
    calls = Outermost(step, [&](CallIndex i) {
      return step.modules[i].parent != kNone && step.modules[step.modules[i].parent].parent == kNone;
    });
  }
  std::vector<std::string> paths;
  for (const CallIndex call : calls) {
    const std::string path(step.Text(step.modules[call].name));
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
  }
  return paths;
}

CallIndex CallAt(const Step& step, Position at) {
  const auto behind =
      std::upper_bound(step.modules.begin(), step.modules.end(), at,
                       [](Position moment, const ModuleCall& call) { return moment < call.begin; });
  if (behind == step.modules.begin()) return {};
  CallIndex call(behind - step.modules.begin() - 1);
  while (call != kNone && step.modules[call].end <= at) call = step.modules[call].parent;
  return call;
}

bool BelongsToOne(std::string_view name, std::string_view patterns) {
  return std::ranges::any_of(text::CommaParts(patterns),
                             [&](std::string_view pattern) { return Belongs(name, pattern); });
}

Result<std::vector<CallIndex>> ChooseSegments(const Step& step, std::string_view value) {
  Result<std::vector<CallIndex>> chosen = ChooseNestedSegments(step, value);
  if (chosen.ok()) *chosen = Outermost(step, std::move(*chosen));
  return chosen;
}

Result<std::vector<CallIndex>> ChooseNestedSegments(const Step& step, std::string_view value) {
  if (step.modules.empty())
    return Error{"no module call was recorded in the step. Record a Python program with --depth auto."};
  constexpr std::string_view kEvery = "every:";
  if (value == "all") {
    std::vector<CallIndex> switched = ByOwnSwitch(step);
    if (!switched.empty()) return switched;
  }
  if (value == "all" || value.substr(0, kEvery.size()) == kEvery) {
    std::vector<CallIndex> blocks = BlocksOf(step);
    if (blocks.empty())
      return Error{
          "the model has no list of blocks to checkpoint one by one; name modules instead: --checkpoint "
          "'encoder.*'."};
    if (value == "all") return blocks;
    const std::string_view number = value.substr(kEvery.size());
    const uint32_t every = text::ParseNumber<uint32_t>(number).value_or(0);
    if (every == 0) return Error{"--checkpoint every:K needs a number, not \"" + std::string(number) + "\"."};
    std::vector<CallIndex> chosen;
    for (size_t i = 0; i < blocks.size(); i += every) chosen.push_back(blocks[i]);
    return chosen;
  }
  const std::vector<std::string_view> patterns = text::CommaParts(value);
  for (const std::string_view pattern : patterns) {
    if (All(step, [&](CallIndex i) { return PathMatches(pattern, step.Text(step.modules[i].name)); }).empty())
      return Error{"no module that ran in the recorded step has the name " + std::string(pattern) + "."};
  }
  std::vector<CallIndex> chosen = All(step, [&](CallIndex i) {
    const std::string_view path = step.Text(step.modules[i].name);
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](std::string_view pattern) { return PathMatches(pattern, path); });
  });
  if (chosen.empty())
    return Error{"--checkpoint needs all, every:K or the paths of modules, not \"" + std::string(value) +
                 "\"."};
  return chosen;
}

std::vector<ModuleNode> ModuleTree(const Step& step) {
  const Position forward_end = step.ForwardEnd();
  TreeBuilder tree;
  for (const ModuleCall& call : step.modules) {
    if (call.begin < forward_end) ++tree.At(step.Text(call.name)).calls;
  }
  std::vector<bool> counted(step.blocks.size(), false);
  for (const Saved& saved : step.saved) {
    if (saved.block == kNone || counted[saved.block] || step.blocks[saved.block].begin == kBefore) continue;
    const CallIndex call = CallAt(step, step.blocks[saved.block].begin);
    if (call == kNone || step.modules[call].begin >= forward_end) continue;
    counted[saved.block] = true;
    tree.AddKept(step.Text(step.modules[call].name), step.blocks[saved.block].requested);
  }
  return tree.InOrder();
}

}  // namespace vramscope::whatif
