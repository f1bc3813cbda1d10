// SPDX-License-Identifier: Apache-2.0
// Loops over tokens, of steps that are written down by hand: which are found, and what more and fewer rounds
// leave of them.
#include "profiler/whatif/sizes/token_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/scene/scene.h"
#include "profiler/whatif/sizes/sequence.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using testing::Each;
using testing::ElementsAre;

constexpr int64_t kTokens = 6, kFeatures = 8;
constexpr uint32_t kDimensionOfTokens = 1;

// x [4, 6, 8], of which a loop takes one token after the other.
class TokenLoopsTest : public testing::Test, protected WrittenStep {
 protected:
  TokenLoopsTest() { x_ = AddWhole(), axis_.batch = kTokens; }

  uint32_t AddWhole() {
    axis_.stride.push_back(kFeatures), axis_.second.push_back(0), axis_.beside.push_back(0);
    return AddBlock(0.5, 90);
  }
  // x.select(dimension, index)
  uint32_t Select(Position at, uint32_t whole, int64_t index, uint32_t dimension = kDimensionOfTokens) {
    std::vector<int64_t> sizes = {4, kTokens, kFeatures}, strides = {kTokens * kFeatures, kFeatures, 1};
    const uint32_t op = Call("aten::select", kNone, at, at + 0.5);
    step_.ops[op].input_count = step_.ops[op].output_count = 1;
    step_.ops[op].first_output = step_.ops[op].first_input + 1;
    const int64_t offset = index * strides[dimension];
    for (const bool part : {false, true}) {
      if (part) sizes.erase(sizes.begin() + dimension), strides.erase(strides.begin() + dimension);
      Operand operand;
      operand.op = op, operand.block = whole, operand.dtype = 6;  // c10::ScalarType::Float
      operand.shape = Shaped(sizes), operand.strides = Shaped(strides);
      operand.offset = part ? static_cast<uint64_t>(offset) : 0;
      step_.operands.push_back(operand);
    }
    return op;
  }
  void TakeTokens(Position from, uint32_t whole, const std::vector<int64_t>& tokens) {
    for (const int64_t token : tokens) Select(from, whole, token), from += 10;
  }
  // Where the rounds of each loop begin.
  [[nodiscard]] std::vector<std::vector<Position>> Found() const {
    std::vector<std::vector<Position>> rounds;
    for (const TokenLoop& loop : FindTokenLoops(step_, axis_)) rounds.push_back(loop.rounds);
    return rounds;
  }
  static constexpr auto kRounds = [] { return ElementsAre(10, 20, 30, 40, 50, 60); };

  BatchAxis axis_;
  uint32_t x_ = 0;
};

TEST_F(TokenLoopsTest, ALoopTakesAllTokensOfATensor) {
  TakeTokens(10, x_, {0, 1, 2, 3, 4, 5});
  EXPECT_THAT(Found(), ElementsAre(kRounds()));
  const TokenLoop loop = FindTokenLoops(step_, axis_).front();
  EXPECT_EQ(loop.block, x_);
  EXPECT_EQ(loop.end, 70) << "the last one is taken to be as long as the one before";
}

TEST_F(TokenLoopsTest, ItEndsWithTheStep) {
  step_.length = 63;
  TakeTokens(10, x_, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(FindTokenLoops(step_, axis_).front().end, 63);
}

TEST_F(TokenLoopsTest, OneThatLeavesTokensOutIsNone) {
  TakeTokens(10, x_, {0, 1, 2, 3, 4});
  EXPECT_THAT(Found(), ElementsAre());
  TakeTokens(60, x_, {0, 2, 4});
  EXPECT_THAT(Found(), ElementsAre());
}

TEST_F(TokenLoopsTest, NorOneThatGoesBack) {
  TakeTokens(10, x_, {5, 4, 3, 2, 1, 0});
  EXPECT_THAT(Found(), ElementsAre());
}

// x[:, t] and x[:, t - 1].
TEST_F(TokenLoopsTest, WhatIsTakenOnceMoreInARoundBeginsNone) {
  for (const int64_t token : {0, 1, 2, 3, 4, 5}) {
    Select(10 + 10 * static_cast<Position>(token), x_, token);
    if (token > 1) Select(15 + 10 * static_cast<Position>(token), x_, token - 1);
  }
  EXPECT_THAT(Found(), ElementsAre(kRounds()));
}

// x[:, 0] before it is the class token.
TEST_F(TokenLoopsTest, ItBeginsAnewWithTheFirstToken) {
  Select(5, x_, 0);
  TakeTokens(10, x_, {0, 1, 2, 3, 4, 5});
  EXPECT_THAT(Found(), ElementsAre(kRounds()));
}

// x[..., 0] lies where x[:, 0] does.
TEST_F(TokenLoopsTest, ASelectOfAnotherDimensionTakesNoToken) {
  constexpr uint32_t kLast = 2;
  for (const int64_t token : {0, 1, 2, 3, 4, 5}) {
    Select(10 + 10 * static_cast<Position>(token), x_, token);
    Select(15 + 10 * static_cast<Position>(token), x_, 0, kLast);
  }
  EXPECT_THAT(Found(), ElementsAre(kRounds()));
}

TEST_F(TokenLoopsTest, OfSeveralTensorsInOneTheFirstCounts) {
  const uint32_t gate = AddWhole();
  for (const int64_t token : {0, 1, 2, 3, 4, 5})
    for (const uint32_t whole : {x_, gate})
      Select((whole == gate ? 13 : 10) + 10 * static_cast<Position>(token), whole, token);
  EXPECT_THAT(Found(), ElementsAre(kRounds()));
}

TEST_F(TokenLoopsTest, ALoopBehindItIsAnother) {
  TakeTokens(10, x_, {0, 1, 2, 3, 4, 5});
  TakeTokens(80, AddWhole(), {0, 1, 2, 3, 4, 5});
  TakeTokens(150, x_, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(Found().size(), 3u);
}

TEST_F(TokenLoopsTest, AFewRoundsMayBeSomethingElse) {
  axis_.stride[x_] = kTokens * kFeatures;  // four of them
  for (const int64_t one : {0, 1, 2, 3}) Select(10 + 10 * static_cast<Position>(one), x_, one, 0);
  EXPECT_EQ(Found().size(), 1u);
  for (size_t i = 0; i < step_.dims.size(); ++i)
    if (step_.dims[i] == 4) step_.dims[i] = 3;
  EXPECT_EQ(Found().size(), 0u) << "queries, keys and values";
}

TEST_F(TokenLoopsTest, NorIsALoopOverWhatIsNotTheSequence) {
  axis_.stride[x_] = 0;
  TakeTokens(10, x_, {0, 1, 2, 3, 4, 5});
  EXPECT_THAT(Found(), ElementsAre());
}

TEST_F(TokenLoopsTest, WhatIsNotKnownIsNoLoop) {
  TakeTokens(10, x_, {0, 1, 2, 3, 4, 5});
  for (Operand& operand : step_.operands) operand.strides = 0;
  EXPECT_THAT(Found(), ElementsAre());
}

// A wrapper that calls its network for each word, and finds in a cache what it made of those before.
TEST_F(TokenLoopsTest, AModuleThatIsCalledForEachTokenIsFollowedInALoopAlone) {
  const uint32_t name = Text("net");
  const auto call = [&](int64_t calls) {
    step_.modules.clear();
    for (int64_t i = 0; i < calls; ++i) {
      const auto begin = static_cast<Position>(10 * i + 12);
      step_.modules.push_back({name, kNone, begin, begin + 2});
    }
    return WhyOneByOne(step_, axis_);
  };
  EXPECT_EQ(call(6),
            "the program calls net 6 times for its 6 tokens, and one length does not tell how often it does "
            "for others: record it at that length.");
  EXPECT_NE(call(12), "");
  EXPECT_EQ(call(5), "") << "layers";
  TakeTokens(10, x_, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(call(6), "");
}

// state = f(state, x[:, t]) from 10 on, a round of 10: its node keeps the state that it is given, and runs
// from 190 on, the last first. Each makes something that it works with, and what is kept by its own node.
class RoundsTest : public TokenLoopsTest {
 protected:
  static constexpr uint64_t kBytes = 512;

  RoundsTest() {
    TakeTokens(10, x_, {0, 1, 2, 3, 4, 5});
    loop_ = FindTokenLoops(step_, axis_).front();
    uint32_t state = AddBlock(1, 196);
    for (uint32_t round = 0; round < kTokens; ++round) {
      const Position at = 10 + 10 * round, backward = 130 + 10 * (kTokens - 1 - round);
      const uint32_t node = Node(backward);
      step_.nodes[node].op = static_cast<uint32_t>(step_.ops.size()), step_.nodes[node].made = at + 2;
      states_.push_back(AddBlock(at + 3, round + 1 == kTokens ? 125 : backward - 10 + 1.9));
      Work(at + 2, node, {state, states_.back()});
      step_.blocks[states_.back()].op = step_.nodes[node].op;
      works_.push_back(AddBlock(at + 5, at + 8));
      state = states_.back();
      gradients_.push_back(AddBlock(backward + 0.5, backward + 11));
      Gradient(node, gradients_.back());
      outlasting_.push_back(AddBlock(backward + 0.6, 250));
      step_.blocks[outlasting_.back()].op = step_.blocks[gradients_.back()].op;
      nodes_.push_back(node);
    }
  }

  void Gradient(uint32_t node, uint32_t block) {
    const Position at = step_.nodes[node].begin + 0.2;
    const uint32_t op = Call("aten::mul", kNone, at, at + 1);
    step_.ops[op].node = node, step_.ops[op].output_count = 1;
    Operand operand;
    operand.op = op, operand.block = block;
    step_.operands.push_back(operand);
    step_.blocks[block].op = op;
  }
  [[nodiscard]] std::vector<uint64_t> Bytes(const Step& step, const std::vector<uint32_t>& blocks) const {
    std::vector<uint64_t> bytes;
    for (const uint32_t block : blocks) bytes.push_back(step.blocks[block].requested);
    return bytes;
  }
  [[nodiscard]] Step With(int64_t rounds) const {
    Step step = step_;
    SetRounds(loop_, rounds, step);
    return step;
  }

  TokenLoop loop_;
  std::vector<uint32_t> states_, works_, gradients_, outlasting_, nodes_;
};

TEST_F(RoundsTest, OfFewerTheOnesBehindTheFirstAreLeftOut) {
  const Step step = With(3);
  for (const auto& blocks : {states_, works_, gradients_, outlasting_})
    EXPECT_THAT(Bytes(step, blocks), ElementsAre(kBytes, 0, 0, 0, kBytes, kBytes));
}

TEST_F(RoundsTest, OperatorsOfThoseWorkOnNothing) {
  const Step step = With(3);
  for (const Operand& operand : step.operands) {
    const Op& op = step.ops[operand.op];
    const Position made = op.node == kNone ? op.begin : step.nodes[op.node].made;
    EXPECT_EQ(operand.block == kNone, made >= 20 && made < 50) << op.begin;
  }
}

// What the first round made the second one kept, which is now the last but one.
TEST_F(RoundsTest, WhatIsHandedOverIsKeptByTheRoundThatComesThen) {
  const Step step = With(3);
  ASSERT_EQ(step.saved.size(), 3u);
  EXPECT_EQ(step.saved[0].node, nodes_[0]);
  EXPECT_EQ(step.saved[1].block, states_[0]);
  EXPECT_EQ(step.saved[1].node, nodes_[4]);
  EXPECT_EQ(step.saved[1].released, step.nodes[nodes_[4]].begin + 1.5);
  EXPECT_EQ(step.saved[2].block, states_[4]);
}

// In the record they went behind the node of the round behind theirs, which begins at 170 and 140.
TEST_F(RoundsTest, ItGoesWithThatNode) {
  EXPECT_NEAR(With(6).blocks[states_[0]].end, 171.9, 0.1);
  EXPECT_NEAR(With(3).blocks[states_[0]].end, 141.9, 0.1);
  EXPECT_EQ(With(3).blocks[states_[5]].end, 125);
}

TEST_F(RoundsTest, AsManyLeaveAllAsItWas) {
  const Step step = With(kTokens);
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    EXPECT_EQ(step.blocks[i].requested, kBytes);
    EXPECT_EQ(step.blocks[i].end, step_.blocks[i].end);
  }
  EXPECT_EQ(step.saved.size(), step_.saved.size());
}

// Five rounds stand for the ten before the last one, or for eleven.
TEST_F(RoundsTest, OfMoreWhatOutlivesTheRoundBehindItsOwnIsThereSoMuchMoreOften) {
  EXPECT_THAT(Bytes(With(11), states_),
              ElementsAre(2 * kBytes, 2 * kBytes, 2 * kBytes, 2 * kBytes, 2 * kBytes, kBytes));
  EXPECT_THAT(Bytes(With(12), states_),
              ElementsAre(3 * kBytes, 2 * kBytes, 2 * kBytes, 2 * kBytes, 2 * kBytes, kBytes));
  EXPECT_THAT(Bytes(With(11), works_), Each(kBytes)) << "they go with their round";
}

TEST_F(RoundsTest, SoItIsInBackward) {
  EXPECT_THAT(Bytes(With(11), outlasting_),
              ElementsAre(2 * kBytes, 2 * kBytes, 2 * kBytes, 2 * kBytes, 2 * kBytes, kBytes));
  EXPECT_THAT(Bytes(With(11), gradients_), Each(kBytes)) << "they are given to the node of the round before";
  step_.blocks[gradients_[0]].end = 250;
  EXPECT_EQ(With(11).blocks[gradients_[0]].requested, 2 * kBytes) << "behind the first one nothing comes";
}

TEST_F(RoundsTest, TheAllocatorSeesEachOfThem) {
  const StepBlock state = With(12).blocks[states_[0]];
  Scene scene;
  scene.blocks = {{1, 2, state.requested, 0}, {3, 4, kBytes, 1}};
  scene.blocks[0].pieces = state.pieces;
  TakeApart(scene);
  ASSERT_EQ(scene.blocks.size(), 4u);
  for (const Block& block : scene.blocks) {
    EXPECT_EQ(block.bytes, kBytes);
    EXPECT_EQ(block.pieces, 1u);
  }
  EXPECT_EQ(scene.blocks[3].begin, 1);
}

// In the record the node of round 3, from 150 on, took that of round 4; now that of round 0 does, from 180.
TEST_F(RoundsTest, AGradientWaitsForTheRoundThatComesThen) {
  EXPECT_EQ(With(6).blocks[gradients_[4]].end, 151);
  EXPECT_EQ(With(3).blocks[gradients_[4]].end, 181);
}

// Of cells, whose weights each round uses: what it adds up, and what its products work in.
TEST_F(RoundsTest, AParametersGradientAndWhatGoesWithItsRoundAreThereOnce) {
  step_.blocks[outlasting_[0]].accumulated = 220;
  step_.blocks[outlasting_[1]].workspace = true;
  EXPECT_THAT(Bytes(With(11), outlasting_),
              ElementsAre(kBytes, kBytes, 2 * kBytes, 2 * kBytes, 2 * kBytes, kBytes));
  step_.blocks[gradients_[0]].end = 181;
  EXPECT_THAT(Bytes(With(11), gradients_), Each(kBytes)) << "the first round's node runs until then";
}

TEST_F(RoundsTest, EachHasABlockOfItsOwn) {
  step_.blocks[states_[2]].requested = 500;
  EXPECT_EQ(With(11).blocks[states_[2]].requested, 2 * kBytes) << "of whole units of the allocator";
}

// A loop over so many tokens, less one, of which a sequence of two leaves one: no round is out of range.
TEST_F(RoundsTest, TheFirstAndTheLastAreAlwaysThere) {
  const auto worked_on = [](const Step& step) {
    std::vector<uint32_t> blocks;
    for (const Operand& operand : step.operands) blocks.push_back(operand.block);
    return blocks;
  };
  for (const int64_t rounds : {2, 1, 0, -7}) {
    EXPECT_THAT(Bytes(With(rounds), states_), ElementsAre(kBytes, 0, 0, 0, 0, kBytes)) << rounds;
    EXPECT_EQ(worked_on(With(rounds)), worked_on(With(2))) << rounds;
  }
}

TEST_F(RoundsTest, WithoutBackwardNothingIsHandedOver) {
  step_.nodes.clear(), step_.saved.clear(), step_.backward.clear();
  std::erase_if(step_.ops, [](const Op& op) { return op.node != kNone; });
  for (StepBlock& block : step_.blocks) block.op = kNone;
  std::erase_if(step_.operands, [&](const Operand& operand) { return operand.op >= step_.ops.size(); });
  EXPECT_THAT(Bytes(With(3), works_), ElementsAre(kBytes, 0, 0, 0, kBytes, kBytes));
}

// Six rounds of four words and two that are learned: of eight words there are ten.
TEST_F(RoundsTest, TokensBesideThoseOfTheSequenceHaveRoundsOfTheirOwn) {
  axis_.batch = 4;
  for (uint32_t i = 0; i < step_.blocks.size(); ++i)
    if (i != x_) axis_.stride.push_back(0), axis_.second.push_back(0), axis_.beside.push_back(0);
  axis_.beside[x_] = 2;
  const Step step = AtLength(step_, axis_, 8);
  EXPECT_THAT(Bytes(step, states_),
              ElementsAre(2 * kBytes, 2 * kBytes, 2 * kBytes, 2 * kBytes, kBytes, kBytes))
      << "nine before the last one";
}

}  // namespace
}  // namespace vramscope::whatif
