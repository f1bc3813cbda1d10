// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/token_loops.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "profiler/whatif/step/up_to.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr int64_t kFewRounds = 3;  // as many may be something else: queries, keys and values

// x[:, t] of a tensor x with so many tokens.
struct Taken {
  uint32_t block = kNone;
  int64_t token = 0, of = 0;
};

// Whether it is dimension `d` that the part has not got.
bool IsWithout(const Step& step, const Operand& part, std::span<const int64_t> strides, uint32_t d) {
  const std::span<const int64_t> left = StridesOf(step, part);
  return left.size() + 1 == strides.size() && std::ranges::equal(left.first(d), strides.first(d)) &&
         std::ranges::equal(left.subspan(d), strides.subspan(d + 1));
}

std::optional<Taken> TokenTaken(const Step& step, const BatchAxis& axis, const Op& op) {
  if (op.node != kNone || op.input_count == 0 || op.output_count == 0) return std::nullopt;
  const Operand &whole = InputsOf(step, op)[0], &part = OutputsOf(step, op)[0];
  if (whole.block == kNone || whole.block != part.block || step.NameOf(op) != "aten::select")
    return std::nullopt;
  const std::span<const int64_t> sizes = SizesOf(step, whole), strides = StridesOf(step, whole);
  for (uint32_t d = 0; d < sizes.size() && d < strides.size(); ++d) {
    if (ElementsOfSample(step, axis, whole, d) != 1 || strides[d] <= 0) continue;
    const auto distance = static_cast<int64_t>(part.offset - whole.offset);
    if (distance % strides[d] != 0 || !IsWithout(step, part, strides, d)) return std::nullopt;
    return Taken{whole.block, distance / strides[d], sizes[d]};
  }
  return std::nullopt;
}

// In which round of the loop a moment of forward is; kNone: in none.
uint32_t RoundAt(const TokenLoop& loop, Position at) {
  if (at < loop.rounds.front() || at >= loop.end) return kNone;
  return static_cast<uint32_t>(std::upper_bound(loop.rounds.begin(), loop.rounds.end(), at) -
                               loop.rounds.begin() - 1);
}

// By block: when the last node that keeps it lets go.
std::vector<Position> LastReleases(const Step& step) {
  std::vector<Position> last(step.blocks.size(), kBefore);
  for (const Saved& saved : step.saved) last[saved.block] = std::max(last[saved.block], saved.released);
  return last;
}

class Rounds {
 public:
  Rounds(const TokenLoop& loop, const Step& step)
      : loop_(loop), step_(step), of_node_(step.nodes.size(), kNone), place_(step.nodes.size(), 0) {
    over_.resize(loop.rounds.size(), kBefore), under_way_.resize(loop.rounds.size(), kForever);
    nodes_.resize(loop.rounds.size());
    for (uint32_t i = 0; i < step.nodes.size(); ++i) {
      const Node& node = step.nodes[i];
      const uint32_t round = RoundAt(loop, node.made);
      if (round == kNone || node.end >= kForever) continue;
      of_node_[i] = round;
      place_[i] = nodes_[round].size();
      nodes_[round].push_back(i);
      over_[round] = std::max(over_[round], node.end);
      under_way_[round] = std::min(under_way_[round], node.begin);
    }
  }

  // The one that made it, in forward or in backward.
  [[nodiscard]] uint32_t Of(const StepBlock& block) const {
    const uint32_t node = block.op == kNone ? kNone : step_.ops[block.op].node;
    return node == kNone ? RoundAt(loop_, block.begin) : of_node_[node];
  }
  [[nodiscard]] uint32_t Of(const Op& op) const {
    return op.node == kNone ? RoundAt(loop_, op.begin) : of_node_[op.node];
  }
  // When the nodes of a round are through.
  [[nodiscard]] Position Over(size_t round) const { return over_[round]; }
  // What a round does at that moment of backward the first one, which runs last there, does as long after its
  // own begin.
  [[nodiscard]] Position InFirst(Position at) const {
    const auto round = std::ranges::find_if(under_way_, [&](Position begin) { return begin <= at; });
    return round == under_way_.end() ? at : at - *round + under_way_[0];
  }
  // What keeps it is a node of another round, the one that does there what this one does in its own.
  void HandOver(Saved& saved, uint32_t round) const {
    const uint32_t own = saved.node == kNone ? kNone : of_node_[saved.node];
    if (own == kNone || nodes_[own].size() != nodes_[round].size()) return;
    const uint32_t node = nodes_[round][place_[saved.node]];
    saved.released += step_.nodes[node].begin - step_.nodes[saved.node].begin;
    saved.node = node;
  }
  // Whether it is there longer than the round behind its own. A parameter has one gradient, which rounds
  // add up.
  [[nodiscard]] bool Outlives(const StepBlock& block, uint32_t round) const {
    if (block.workspace || block.IsParametersGradient()) return false;
    const bool backward = block.op != kNone && step_.ops[block.op].node != kNone;
    // Behind the first one none comes in backward: another one would be over as long after it as it is after
    // the one that ran before.
    if (backward) return block.end > (round == 0 ? 2 * over_[0] - over_[1] : over_[round - 1]);
    return block.end > (round + 2 < loop_.rounds.size() ? loop_.rounds[round + 2] : loop_.end);
  }

 private:
  const TokenLoop& loop_;
  const Step& step_;
  std::vector<uint32_t> of_node_;
  std::vector<size_t> place_;                 // by node: among those of its round
  std::vector<Position> over_, under_way_;    // by round, in backward
  std::vector<std::vector<uint32_t>> nodes_;  // by round, in the order in which they were made
};

}  // namespace

std::vector<TokenLoop> FindTokenLoops(const Step& step, const BatchAxis& axis) {
  std::vector<TokenLoop> loops;
  std::map<uint32_t, TokenLoop> begun;  // by block
  for (const Op& op : step.ops) {
    const std::optional<Taken> taken = TokenTaken(step, axis, op);
    if (!taken || taken->of <= kFewRounds) continue;
    TokenLoop& loop = begun[taken->block];
    if (taken->token == 0) loop = {taken->block, {}, 0};
    if (taken->token != static_cast<int64_t>(loop.rounds.size())) continue;
    loop.rounds.push_back(op.begin);
    if (static_cast<int64_t>(loop.rounds.size()) != taken->of) continue;
    loop.end = std::min(step.length, op.begin + (op.begin - loop.rounds[loop.rounds.size() - 2]));
    // Of several tensors that one loop goes through, the first.
    if (loops.empty() || loops.back().end <= loop.rounds.front()) loops.push_back(loop);
    begun.erase(taken->block);
  }
  return loops;
}

std::string WhyOneByOne(const Step& step, const BatchAxis& axis) {
  constexpr int64_t kFewTokens = 6, kMostTimes = 3;  // each token: recurrent networks in Python go on twice
  if (axis.batch < kFewTokens) return "";
  const std::vector<TokenLoop> loops = FindTokenLoops(step, axis);
  const auto in_loop = [&](Position at) {
    return std::ranges::any_of(loops, [at](const TokenLoop& loop) { return RoundAt(loop, at) != kNone; });
  };
  std::map<uint32_t, int64_t> calls;  // by name
  for (const ModuleCall& call : step.modules)
    if (!in_loop(call.begin)) ++calls[call.name];
  for (const auto& [name, count] : calls)
    if (count % axis.batch == 0 && count / axis.batch <= kMostTimes)
      return "the program calls " + std::string(step.Text(name)) + " " + std::to_string(count) +
             " times for its " + std::to_string(axis.batch) +
             " tokens, and one length does not tell how often it does for others: record it at that length.";
  return "";
}

void SetRounds(const TokenLoop& loop, int64_t wanted, Step& step) {
  const auto recorded = static_cast<int64_t>(loop.rounds.size());
  wanted = std::max<int64_t>(wanted, 2);
  const Rounds rounds(loop, step);
  const auto left_out = [&](uint32_t round) {
    return round != kNone && round > 0 && round <= recorded - wanted;
  };
  std::vector<bool> gone(step.blocks.size(), false);
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    StepBlock& block = step.blocks[i];
    const uint32_t round = rounds.Of(block);
    if (block.begin == kBefore || round == kNone || round + 1 == recorded) continue;
    if (left_out(round)) gone[i] = true, block.requested = 0;
    // All but the last round's are there so much more often, which leaves what it did.
    if (wanted > recorded && rounds.Outlives(block, round)) {
      block.pieces =
          static_cast<uint32_t>((wanted - 1) / (recorded - 1) + (round < (wanted - 1) % (recorded - 1)));
      block.requested = UpTo(block.requested, kBlockUnit) * block.pieces;
    }
  }
  if (wanted >= recorded) return;
  for (Operand& operand : step.operands)
    if (left_out(rounds.Of(step.ops[operand.op]))) operand.block = kNone;
  // What the first round made, and is kept by the one behind it, any other one would keep.
  const std::vector<Position> before = LastReleases(step);
  std::erase_if(step.saved, [&](const Saved& saved) {
    return gone[saved.block] ||
           (left_out(RoundAt(loop, saved.at)) && rounds.Of(step.blocks[saved.block]) != 0);
  });
  // What a round that is left out let go of in backward, the one before it there does.
  const auto first = static_cast<uint32_t>(recorded - wanted) + 1;
  const Position from = rounds.Over(first), to = rounds.Over(1) + kAtOnce;
  for (Saved& saved : step.saved)
    if (left_out(RoundAt(loop, saved.at))) rounds.HandOver(saved, first);
  const std::vector<Position> after = LastReleases(step);
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    StepBlock& block = step.blocks[i];
    if (block.begin >= from || block.end <= from || block.end > to) continue;
    const bool released = after[i] != kBefore && block.end <= before[i] + kAtOnce;
    block.end = released ? block.end - before[i] + after[i] : rounds.InFirst(block.end);
  }
}

}  // namespace vramscope::whatif
