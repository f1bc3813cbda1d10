// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/source/type_branches.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "profiler/whatif/precision/precision.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr std::string_view kInBfloat16 = " in bfloat16";
constexpr uint8_t kAutocast = 0;  // OtherBranch::type

// "other in float16: Gate.forward, model.py:217".
std::optional<OtherBranch> ParseOther(std::string_view what) {
  constexpr std::pair<std::string_view, bool> kKinds[] = {{"other ", true}, {"perhaps ", false}};
  constexpr std::pair<std::string_view, uint8_t> kTypes[] = {
      {"in float16: ", kHalfType}, {"in bfloat16: ", kBfloat16Type}, {"under autocast: ", kAutocast}};
  for (const auto& [kind, sure] : kKinds) {
    for (const auto& [name, type] : kTypes) {
      if (!what.starts_with(kind) || !what.substr(kind.size()).starts_with(name)) continue;
      return OtherBranch{kNone, type, sure, std::string(what.substr(kind.size() + name.size()))};
    }
  }
  return std::nullopt;
}

bool Same(const OtherBranch& a, const OtherBranch& b) { return a.where == b.where && a.type == b.type; }

// Of a branch that was passed many times, one; a sure one, where there is one.
void AddOther(std::vector<OtherBranch>& branches, const OtherBranch& branch) {
  const auto known = std::find_if(branches.begin(), branches.end(), [&](const OtherBranch& other) {
    return Same(other, branch) && other.block == branch.block;
  });
  if (known == branches.end())
    branches.push_back(branch);
  else
    known->sure |= branch.sure;
}

std::string_view NameOf(uint8_t type) {
  return type == kHalfType ? "float16" : type == kBfloat16Type ? "bfloat16" : "autocast";
}

}  // namespace

void AddTypeBranch(Step& step, TypeBranch branch, std::string_view what) {
  if (auto other = ParseOther(what)) {
    other->block = branch.block;
    return AddOther(step.other_branches, *other);
  }
  branch.bfloat16 = what.ends_with(kInBfloat16);
  if (branch.bfloat16) what.remove_suffix(kInBfloat16.size());
  if (what == "clamp" || what == "softmax") {
    branch.form = what == "clamp" ? TypeBranch::Form::kClamp : TypeBranch::Form::kSoftmax;
    step.half_only.push_back(branch);
  }
  if (what == "to parameter") {
    branch.form = TypeBranch::Form::kToParameter;
    step.to_parameter.push_back(branch);
  }
}

Result<Step> KnownBranches(const Step& step, Step changed, uint8_t type) {
  const bool autocast = changed.autocast.size() > step.autocast.size();
  std::vector<OtherBranch> left;
  for (const OtherBranch& branch : step.other_branches) {
    const bool low = changed.blocks[branch.block].requested < step.blocks[branch.block].requested;
    if (branch.type == kAutocast ? !autocast : branch.type != type || !low) continue;
    if (branch.sure)
      return Error{"the program asks for " + std::string(NameOf(branch.type)) + " in " + branch.where +
                   ", and does with it what a recording without it lacks: record the program so."};
    left.push_back(branch);
  }
  changed.other_branches = std::move(left);
  return changed;
}

void TellOtherBranches(const Step& changed, Outcome& outcome) {
  std::vector<OtherBranch> told;
  for (const OtherBranch& branch : changed.other_branches) {
    if (std::any_of(told.begin(), told.end(), [&](const OtherBranch& other) { return Same(other, branch); }))
      continue;
    told.push_back(branch);
    outcome.unsure = true;
    outcome.notes.push_back("the program asks for " + std::string(NameOf(branch.type)) + " in " +
                            branch.where + ": what it does then is taken to need no other memory");
  }
}

}  // namespace vramscope::whatif
