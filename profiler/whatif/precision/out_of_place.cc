// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/out_of_place.h"

#include <algorithm>
#include <map>

#include "profiler/whatif/step/insert.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// An addition in place that a linear layer ends with, and the block that it adds to.
struct Addition {
  uint32_t block = kNone;
  uint32_t op = kNone;
  uint32_t sum = kNone;  // the block in its place
};

bool IsWithin(const Step& step, const std::vector<uint32_t>& calls, Position at) {
  return std::any_of(calls.begin(), calls.end(), [&](uint32_t call) {
    return step.modules[call].begin <= at && at < step.modules[call].end;
  });
}

std::map<uint32_t, Addition> AdditionsIn(const Step& step, const std::vector<uint32_t>& calls) {
  std::map<uint32_t, Addition> additions;
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    const Op& op = step.ops[i];
    if (op.node != kNone || op.parent == kNone || op.input_count == 0 || step.NameOf(op) != "aten::add_" ||
        step.NameOf(step.ops[op.parent]) != "aten::linear" || !IsWithin(step, calls, op.begin))
      continue;
    const uint32_t block = InputsOf(step, op)[0].block;
    if (block != kNone && step.blocks[block].begin >= step.ops[op.parent].begin)
      additions[block] = {block, i, kNone};
  }
  return additions;
}

class Apart {
 public:
  Apart(const Step& step, std::map<uint32_t, Addition> additions)
      : step_(step), changed_(step), additions_(std::move(additions)) {}

  Step Change() && {
    for (auto& [block, addition] : additions_) {
      StepBlock sum = CopyOf(step_, block);
      sum.begin = step_.ops[addition.op].begin + kHair;
      sum.op = addition.op;
      sum.category = step_.blocks[block].category;
      addition.sum = static_cast<uint32_t>(changed_.blocks.size());
      changed_.blocks.push_back(sum);
      changed_.blocks[block].end = EndOfProduct(addition);
      changed_.ops[addition.op].name = TextOf(changed_, "aten::add");
    }
    for (uint32_t i = 0; i < changed_.operands.size(); ++i)
      Rename(changed_.operands[i].block, SeenAt(step_, i));
    for (Saved& saved : changed_.saved) Rename(saved.block, saved.at);
    for (Held& held : changed_.held) Rename(held.block, step_.modules[held.call].begin);
    for (Named& named : changed_.named) Rename(named.block, kForever);
    std::stable_sort(changed_.named.begin(), changed_.named.end(),
                     [](const Named& a, const Named& b) { return a.block < b.block; });
    return std::move(changed_);
  }

 private:
  [[nodiscard]] Position EndOfProduct(const Addition& addition) const {
    return step_.ops[step_.ops[addition.op].parent].end - kHair;
  }

  // What is seen behind the addition is the sum.
  void Rename(uint32_t& block, Position seen) const {
    const auto found = additions_.find(block);
    if (found != additions_.end() && seen > step_.ops[found->second.op].begin) block = found->second.sum;
  }

  const Step& step_;
  Step changed_;
  std::map<uint32_t, Addition> additions_;
};

}  // namespace

std::optional<Step> WithBiasesApart(const Step& step, const std::vector<uint32_t>& calls) {
  std::map<uint32_t, Addition> additions = AdditionsIn(step, calls);
  if (additions.empty()) return std::nullopt;
  return Apart(step, std::move(additions)).Change();
}

}  // namespace vramscope::whatif
