// SPDX-License-Identifier: Apache-2.0
// What the sources of functions say of their variables (Step::named).
#include <algorithm>

#include "profiler/whatif/lifetimes/holders.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// Where a block's names are, or would be.
size_t PlaceOfNames(const Step& step, uint32_t block) {
  const auto place = std::lower_bound(step.named.begin(), step.named.end(), block,
                                      [](const Named& one, uint32_t wanted) { return one.block < wanted; });
  return static_cast<size_t>(place - step.named.begin());
}

const Named* NamesOf(const Step& step, uint32_t block) {
  const size_t place = PlaceOfNames(step, block);
  return place == step.named.size() || step.named[place].block != block ? nullptr : &step.named[place];
}

// linear(x.type_as(y)): whatever x is, the layer has what it was given.
bool IsTakenBackBefore(const Step& step, uint32_t block, Position from) {
  return std::ranges::any_of(step.ops, [&](const Op& op) {
    if (op.end > from || op.parent != kNone || op.node != kNone || op.input_count == 0) return false;
    const std::string_view name = step.NameOf(op);
    const bool back = name == "aten::type_as" ||
                      (name == "aten::to" && (op.asks == Asks::kTensor || op.asks == Asks::kOrigin));
    return back && step.operands[op.first_input].block == block;
  });
}

}  // namespace

Position NamedUntil(const Step& step, uint32_t block) {
  const Named* const named = NamesOf(step, block);
  return named == nullptr ? kBefore : named->unconverted;
}

Position NamedAsMadeBefore(const Step& step, uint32_t block, Position at) {
  auto one = std::partition_point(step.named_since.begin(), step.named_since.end(),
                                  [block](const NamedSince& other) { return other.block < block; });
  Position until = one == step.named_since.end() || one->block != block ? kForever : kBefore;
  for (; one != step.named_since.end() && one->block == block; ++one)
    if (one->since < at) until = std::max(until, one->until);
  return until;
}

bool AreNamesKnown(const Step& step, uint32_t block) {
  const Named* const named = NamesOf(step, block);
  return named != nullptr && named->itself;
}

void HoldInFunction(Step& step, uint32_t block, Position from, Position until) {
  const bool converted = IsTakenBackBefore(step, block, from);
  const size_t place = PlaceOfNames(step, block);
  if (NamesOf(step, block) == nullptr)
    step.named.insert(step.named.begin() + static_cast<ptrdiff_t>(place),
                      {block, until, converted ? kBefore : until, false, false});
  Named& named = step.named[place];
  named.until = std::max(named.until, until);
  if (!converted) named.unconverted = std::max(named.unconverted, until);
}

void MergeNamed(std::vector<Named>& named) {
  std::stable_sort(named.begin(), named.end(),
                   [](const Named& a, const Named& b) { return a.block < b.block; });
  std::vector<Named> merged;
  for (const Named& one : named) {
    if (merged.empty() || merged.back().block != one.block) {
      merged.push_back(one);
      continue;
    }
    Named& known = merged.back();
    known.until = std::max(known.until, one.until);
    known.unconverted = std::max(known.unconverted, one.unconverted);
    known.all = known.all && one.all;
    known.itself = known.itself && one.itself;
  }
  named = std::move(merged);
}

}  // namespace vramscope::whatif
