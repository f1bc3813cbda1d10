// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/lifetimes/last_uses.h"

#include <algorithm>

#include "profiler/whatif/lifetimes/caches.h"
#include "profiler/whatif/lifetimes/holders.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// What a node unpacks lies in variables of its function, which go when that returns: before the engine
// converts what came out of it, and lets go of what it was given.
constexpr Position kUnpacked = 0.2;
constexpr int kMostArguments = 64;
constexpr Position kTurn = 1e-8;  // between what goes one after the other at once

// An operator in place on a view has its node within CopySlices, which copies the gradient first, and runs
// that node with a part of the copy (torch/csrc/autograd/functions/tensor.cpp).
bool IsWithinCopySlices(const Step& step, const Op& op) {
  const std::string_view name = step.NameOf(op);
  return op.parent != kNone && step.ops[op.parent].parent == kNone &&
         step.NameOf(step.ops[op.parent]) == "torch::autograd::CopySlices" &&
         name.find("Backward") != std::string_view::npos && name.find("::") == std::string_view::npos;
}

// By node: the operator that is its work.
std::vector<uint32_t> FindWork(const Step& step) {
  std::vector<uint32_t> work(step.nodes.size(), kNone);
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    const Op& op = step.ops[i];
    if (op.node == kNone || op.end >= kForever) continue;
    const bool itself = op.parent == kNone && op.name == step.nodes[op.node].name;
    if (itself || IsWithinCopySlices(step, op)) work[op.node] = i;
  }
  return work;
}

std::vector<Position> UnpackedUntil(const Step& step, const std::vector<uint32_t>& work) {
  std::vector<int> turns(step.nodes.size(), 0);
  std::vector<Position> until;
  for (const Saved& saved : step.saved) {
    const uint32_t op = saved.node == kNone ? kNone : work[saved.node];
    if (op == kNone) {
      until.push_back(saved.released);
      continue;
    }
    const Position end = step.ops[op].end - kUnpacked;
    const bool in_cpp = step.Text(step.nodes[saved.node].name).ends_with("Backward0");
    until.push_back(std::min(end, saved.released) - kTurn * (in_cpp ? turns[saved.node]++ : 0));
  }
  return until;
}

// auto [attended, sums, seed] = attention(..., mask) is a tuple, which goes first, and its first elements.
// What the operator around made to give it goes next, the last one first: left = left.reshape(...), right =
// ...
Position EndFor(const Step& step, const Op& op, const Operand& operand) {
  if ((operand.flags & trace::kTensorIsOutput) == 0) {
    const bool local = op.parent != kNone && step.blocks[operand.block].begin > step.ops[op.parent].begin;
    return op.end - (local ? kTurn * std::min<int>(operand.argument, kMostArguments) / kMostArguments : 0);
  }
  return op.end - kTurn * (1 + 1.0 / (1 + operand.argument));
}

LastUses Find(const Step& step) {
  LastUses uses;
  const std::vector<uint32_t> work = FindWork(step);
  uses.unpacked_until = UnpackedUntil(step, work);
  for (uint32_t node = 0; node < step.nodes.size(); ++node) {
    const bool within = work[node] != kNone && step.ops[work[node]].parent != kNone;
    uses.works_from.push_back(within ? step.ops[work[node]].begin : step.nodes[node].begin);
  }
  // What is copied by a name's new value is used by that.
  for (const StepBlock& block : step.blocks)
    uses.of_block.push_back(block.replaced < kForever ? std::max(block.replaced, block.last_use)
                                                      : block.last_use);
  uses.held = uses.of_block;
  const Holders holders(step);
  for (const Operand& operand : step.operands) {
    const Op& op = step.ops[operand.op];
    if (operand.block == kNone || op.node != kNone || op.end >= kForever ||
        op.begin > step.blocks[operand.block].replaced)
      continue;
    Position& last = uses.of_block[operand.block];
    last = std::max(last, op.end);
    // What attention gives is often overwritten by what is made of it (GPT-2): it is not held here.
    const bool result = (operand.flags & trace::kTensorIsOutput) != 0;
    Position& held = uses.held[operand.block];
    held = std::max({held, EndFor(step, op, operand), OwnVariableUntil(step, operand),
                     result ? kBefore : holders.Until(operand)});
  }
  // No operand names a copy that a lever put in: its variables alone tell.
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    if (step.blocks[i].last_use != kBefore) uses.held[i] = std::max(uses.held[i], holders.SeenUntil(i));
  }
  HoldCaches(step, uses.held);
  return uses;
}

}  // namespace

Position OwnVariableUntil(const Step& step, const Operand& operand) {
  const Op& op = step.ops[operand.op];
  const bool given = operand.argument == 0 && (operand.flags & trace::kTensorIsOutput) == 0;
  if (!given || op.parent == kNone || op.node != kNone || step.NameOf(op) != "aten::matmul") return kBefore;
  const Op& around = step.ops[op.parent];
  if (step.NameOf(around) != "aten::_scaled_dot_product_attention_math" || around.end >= kForever ||
      step.blocks[operand.block].begin < around.begin)
    return kBefore;
  // The weights were declared last, and go first.
  return around.end - kTurn * (1 + (op.begin - around.begin) / (around.end - around.begin));
}

const LastUses& LastUsesOf(const Step& step) {
  return step.last_uses.Get([&] { return Find(step); });
}

Takers::Takers(const Step& step) {
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    if (step.ops[i].parent != kNone) continue;
    for (const Operand& operand : InputsOf(step, step.ops[i]))
      if (operand.block != kNone) all_.emplace_back(operand.block, i);
  }
  std::sort(all_.begin(), all_.end());
}

uint32_t Takers::Next(uint32_t block, uint32_t op) const {
  const auto next = std::upper_bound(all_.begin(), all_.end(), std::pair(block, op));
  return next != all_.end() && next->first == block ? next->second : kNone;
}

const Takers& TakersOf(const Step& step) {
  return step.takers.Get([&] { return Takers(step); });
}

FirstTakers::FirstTakers(const Step& step) {
  for (uint32_t i = 0; i < step.ops.size(); ++i)
    if (step.ops[i].input_count != 0 && step.ops[i].output_count != 0)
      all_.emplace_back(InputsOf(step, step.ops[i])[0].block, i);
  std::sort(all_.begin(), all_.end());
}

std::span<const std::pair<uint32_t, uint32_t>> FirstTakers::Of(uint32_t block, uint32_t from) const {
  const auto begin = std::ranges::lower_bound(all_, std::pair(block, from));
  return {begin, std::ranges::lower_bound(begin, all_.end(), std::pair(block, kNone))};
}

const FirstTakers& FirstTakersOf(const Step& step) {
  return step.first_takers.Get([&] { return FirstTakers(step); });
}

}  // namespace vramscope::whatif
