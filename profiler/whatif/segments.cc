// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/segments.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <string>

namespace vramscope::whatif {
namespace {

using model::kNone;

bool IsNumber(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view LastName(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::string_view ParentPath(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? "" : path.substr(0, dot);
}

// The first name of the path, and what follows it.
std::string_view TakeName(std::string_view& path) {
  const size_t dot = path.find('.');
  const std::string_view name = path.substr(0, dot);
  path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
  return name;
}

// Calls in forward that `wanted` accepts, without those inside another one.
std::vector<uint32_t> Outermost(const Step& step, const std::function<bool(uint32_t)>& wanted) {
  const Position backward = step.backward.empty() ? step.length : step.backward.front().begin;
  std::vector<uint32_t> chosen;
  Position behind = kBefore;
  for (uint32_t i = 0; i < step.modules.size(); ++i) {
    const ModuleCall& call = step.modules[i];
    if (call.begin < behind || call.end > backward || !wanted(i)) continue;
    chosen.push_back(i);
    behind = call.end;
  }
  return chosen;
}

std::vector<uint32_t> BlocksOf(const Step& step) {
  std::map<std::string_view, uint32_t> numbered;  // by the path above: the numbers below it
  std::vector<bool> composed(step.modules.size(), false);
  std::map<std::string_view, bool> seen;
  for (const ModuleCall& call : step.modules) {
    const std::string_view path = step.Text(call.name);
    if (call.parent != kNone) composed[call.parent] = true;
    if (IsNumber(LastName(path)) && seen.emplace(path, true).second) ++numbered[ParentPath(path)];
  }
  return Outermost(step, [&](uint32_t i) {
    const std::string_view path = step.Text(step.modules[i].name);
    return composed[i] && IsNumber(LastName(path)) && numbered[ParentPath(path)] >= 2;
  });
}

}  // namespace

bool PathMatches(std::string_view pattern, std::string_view path) {
  while (!pattern.empty() && !path.empty()) {
    const std::string_view wanted = TakeName(pattern);
    const std::string_view name = TakeName(path);
    if (wanted != "*" && wanted != name) return false;
  }
  return pattern.empty() && path.empty();
}

Result<std::vector<uint32_t>> ChooseSegments(const Step& step, std::string_view value) {
  if (step.modules.empty())
    return Error{
        "no module was seen to run in the recorded step: record a Python program with --depth auto."};
  constexpr std::string_view kEvery = "every:";
  if (value == "all" || value.substr(0, kEvery.size()) == kEvery) {
    std::vector<uint32_t> blocks = BlocksOf(step);
    if (blocks.empty())
      return Error{
          "the model has no list of blocks that would be checkpointed one by one; name modules instead: "
          "--checkpoint 'encoder.*'."};
    if (value == "all") return blocks;
    uint32_t every = 0;
    const std::string_view number = value.substr(kEvery.size());
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), every);
    if (error != std::errc() || end != number.data() + number.size() || every == 0)
      return Error{"--checkpoint every:K needs a number, not \"" + std::string(number) + "\"."};
    std::vector<uint32_t> chosen;
    for (size_t i = 0; i < blocks.size(); i += every) chosen.push_back(blocks[i]);
    return chosen;
  }
  std::vector<uint32_t> chosen =
      Outermost(step, [&](uint32_t i) { return PathMatches(value, step.Text(step.modules[i].name)); });
  if (chosen.empty())
    return Error{"no module that ran in the recorded step is called " + std::string(value) + "."};
  return chosen;
}

}  // namespace vramscope::whatif
