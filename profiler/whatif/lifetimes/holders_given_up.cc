// SPDX-License-Identifier: Apache-2.0
// When variables are given another value, as seen in the next call from their function, or where it returns.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "profiler/whatif/lifetimes/holders.h"

namespace vramscope::whatif {

using model::kNone;

// y = f(x); x = g(y): what the names stand for in the next call from the function tells that x was not given
// what f returned. A name that stands for several blocks at once, a list or names of two functions, tells
// nothing. Nor does one that was given what f returned in another turn of a loop: y = f(x); x = y[0]; x =
// g(x). Nor where the function's source tells what it does with x: x = f(x); out.append(x).
void Holders::FindGivenUp() {
  struct Seen {
    uint32_t call, block;
    bool one;
  };
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Seen>> seen;  // by the function's call and the name
  for (const Held& held : step_.held) {
    std::vector<Seen>& of_name = seen[{step_.modules[held.call].parent, held.name}];
    if (of_name.empty() || of_name.back().call != held.call)
      of_name.push_back({held.call, held.block, true});
    else if (of_name.back().block != held.block)
      of_name.back().one = false;
  }
  for (const auto& [name, calls] : seen) {
    std::set<std::string> takes_results;  // the name, of calls in such places
    for (size_t i = 1; i < calls.size(); ++i)
      if (IsMadeIn(calls[i].block, calls[i - 1].call)) takes_results.insert(PlaceInLoops(calls[i - 1].call));
    for (size_t i = 1; i < calls.size(); ++i) {
      const Seen &before = calls[i - 1], &now = calls[i];
      if (!before.one || !now.one || before.block == now.block || CallsBetween(before.call, now.call))
        continue;
      if (!ResultIsHeld(before.call, now.call, name.second)) continue;
      if (ReturnsAnother(before.call, now.call)) continue;
      if (!takes_results.empty() && takes_results.contains(PlaceInLoops(before.call))) continue;
      if (AreNamesToldIn(name.first, before.block)) continue;
      Position& given_up = given_up_[before.block];
      given_up = std::max(given_up, Assigned(now.block, before.call));
    }
  }
}

// y = f(x), the last call; x = g(y): a function's variables go in their order when it returns. What f
// returned goes behind a variable that is behind x, so it is not what x stood for.
void Holders::FindGivenUpLast() {
  for (size_t i = 0; i < step_.held.size(); ++i) {
    const uint32_t call = step_.held[i].call, function = step_.modules[call].parent;
    if (function == kNone || step_.modules[call].end >= kForever) continue;
    const ModuleCall& last = step_.modules[call];
    if (!IsLast(call)) continue;  // a later one would show it
    const Position returned = step_.modules[function].end;
    const uint32_t anew = FirstMadeBehind(last.end);
    if (anew == kNone || step_.ops[anew].end > returned) continue;
    for (size_t k = i + 1; k < step_.held.size() && step_.held[k].call == call; ++k) {
      const Position gone = step_.blocks[step_.held[k].block].end;
      if (step_.held[k].name == step_.held[i].name || gone < step_.ops[anew].end || gone > returned) continue;
      if (!ResultGoesBehind(last, gone)) continue;
      const uint32_t block = step_.held[i].block;
      // x = f(x).transpose(1, 2): earlier, where the function's source tells.
      const Position told = named_[block] > last.end ? named_[block] : kForever;
      given_up_[block] = std::max(given_up_[block], std::min(told, step_.ops[anew].end));
      break;
    }
  }
}

// Directly: no operator lies between.
bool Holders::ResultGoesBehind(const ModuleCall& call, Position gone) const {
  const auto next =
      std::partition_point(step_.ops.begin(), step_.ops.end(), [&](const Op& op) { return op.begin < gone; });
  const Position until = next == step_.ops.end() ? step_.length : next->begin;
  auto block = std::partition_point(step_.blocks.begin(), step_.blocks.end(),
                                    [&](const StepBlock& one) { return one.begin < call.begin; });
  for (; block != step_.blocks.end() && block->begin < call.end; ++block) {
    if (gone < block->end && block->end < until) return true;
  }
  return false;
}

// The outermost operator that makes the next block.
uint32_t Holders::FirstMadeBehind(Position at) const {
  const auto block = std::partition_point(step_.blocks.begin(), step_.blocks.end(),
                                          [&](const StepBlock& one) { return one.begin < at; });
  const uint32_t maker =
      block == step_.blocks.end() ? kNone : MakerOf(static_cast<uint32_t>(block - step_.blocks.begin()));
  return maker == kNone || step_.ops[maker].begin < at ? kNone : maker;
}

bool Holders::CallsBetween(uint32_t call, uint32_t later) const {
  for (uint32_t i = call + 1; i < later; ++i)
    if (step_.modules[i].parent == step_.modules[call].parent) return true;
  return false;
}

std::string Holders::PlaceInLoops(uint32_t call) const {
  std::string path(step_.Text(step_.modules[call].name));
  std::erase_if(path, [](char c) { return c >= '0' && c <= '9'; });
  return path;
}

bool Holders::IsMadeIn(uint32_t block, uint32_t call) const {
  const uint32_t maker = MakerOf(block);
  return maker != kNone && step_.modules[call].begin <= step_.ops[maker].begin &&
         step_.ops[maker].begin < step_.modules[call].end;
}

bool Holders::ResultIsHeld(uint32_t call, uint32_t later, uint32_t but_by) const {
  auto held = std::lower_bound(step_.held.begin(), step_.held.end(), later,
                               [](const Held& one, uint32_t wanted) { return one.call < wanted; });
  for (; held != step_.held.end() && held->call == later; ++held) {
    if (held->name != but_by && IsMadeIn(held->block, call)) return true;
  }
  return false;
}

bool Holders::ReturnsAnother(uint32_t call, uint32_t later) const {
  const ModuleCall& made = step_.modules[call];
  const Position until = step_.modules[later].begin;
  auto block = std::partition_point(step_.blocks.begin(), step_.blocks.end(),
                                    [&](const StepBlock& one) { return one.begin < made.begin; });
  for (; block != step_.blocks.end() && block->begin < made.end; ++block) {
    const auto index = static_cast<size_t>(block - step_.blocks.begin());
    if (std::binary_search(held_[index].begin(), held_[index].end(), later)) continue;
    if (std::any_of(uses_[index].begin(), uses_[index].end(), [&](uint32_t use) {
          return made.end <= step_.ops[use].begin && step_.ops[use].begin < until;
        }))
      return true;
  }
  return false;
}

Position Holders::Assigned(uint32_t block, uint32_t call) const {
  const uint32_t maker = MakerOf(block);
  if (maker == kNone || step_.ops[maker].begin < step_.modules[call].end) return kBefore;
  return step_.ops[maker].end >= kForever ? kBefore : step_.ops[maker].end;
}

}  // namespace vramscope::whatif
