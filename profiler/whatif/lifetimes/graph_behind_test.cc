// SPDX-License-Identifier: Apache-2.0
// The nodes that a tensor's graph contains, in hand-written steps. Oracle: grad_fn in PyTorch. A variable
// that holds a tensor also holds that node and all nodes that lead to it.
#include "profiler/whatif/lifetimes/graph_behind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr Position kHeld = 350, kLonger = 360;

//   x ─ first ─ a ─ second ─ state ─ third ─ out
class GraphsBehindTest : public testing::Test, protected WrittenOperators {
 protected:
  GraphsBehindTest() {
    x_ = AddBlock(1, 190), a_ = AddBlock(11, 190), state_ = AddBlock(21, 350), out_ = AddBlock(31, 190);
    first_ = Made(10, {x_}, a_), second_ = Made(20, {a_}, state_), third_ = Made(30, {state_}, out_);
  }

  // The node of an operator.
  NodeIndex Made(Position at, const std::vector<BlockIndex>& from, BlockIndex to) {
    return AddNode("Backward0", AddOp("aten::mul", {}, {at, at + 2}, from, to), 200 - at.event);
  }
  [[nodiscard]] std::unordered_map<NodeIndex, Position> Until(
      const std::vector<std::pair<BlockIndex, Position>>& held, Position from = 0) const {
    return GraphsBehind(step_).Until(held, from);
  }

  BlockIndex x_, a_, state_, out_;
  NodeIndex first_, second_, third_;
};

TEST_F(GraphsBehindTest, AllThatItWasComputedWithAndNothingThatItWent) {
  EXPECT_THAT(Until({{state_, kHeld}}), UnorderedElementsAre(Pair(first_, kHeld), Pair(second_, kHeld)));
}

TEST_F(GraphsBehindTest, WhatWasMadeBeforeIsLeftOut) {
  EXPECT_THAT(Until({{state_, kHeld}}, 15), UnorderedElementsAre(Pair(second_, kHeld)));
  EXPECT_TRUE(Until({{state_, kHeld}}, 25).empty());
}

TEST_F(GraphsBehindTest, OfSeveralTheLongestCounts) {
  EXPECT_THAT(Until({{a_, kLonger}, {out_, kHeld}}),
              UnorderedElementsAre(Pair(first_, kLonger), Pair(second_, kHeld), Pair(third_, kHeld)));
  EXPECT_THAT(Until({{out_, kLonger}, {a_, kHeld}}),
              UnorderedElementsAre(Pair(first_, kLonger), Pair(second_, kLonger), Pair(third_, kLonger)));
}

// A Function's forward calls other operators, and computes without a graph of its own.
TEST_F(GraphsBehindTest, WhatAFunctionCallsComputesForItsNode) {
  const BlockIndex inner = AddBlock(43, 190), result = AddBlock(45, 350);
  const OpIndex function = AddOp("Function", {}, {40, 50}, {}, {});
  const OpIndex outer = AddOp("aten::exp", {}, {42, 44}, {out_}, inner);
  const OpIndex deep = AddOp("aten::neg", {}, {HooksAfter(44, 50), 46}, {inner}, result);
  step_.ops[outer].parent = function, step_.ops[deep].parent = outer;
  const NodeIndex node = AddNode("FunctionBackward", function, 130);
  EXPECT_THAT(Until({{result, kHeld}}, 25), UnorderedElementsAre(Pair(node, kHeld), Pair(third_, kHeld)));
  EXPECT_TRUE(Until({{result, kHeld}}, 41).empty()) << "the function was called before";
}

// Attention transposes keys internally.
TEST_F(GraphsBehindTest, AViewThatAnOperatorTakesOfWhatItIsGivenDoesNotComeOutOfIt) {
  const BlockIndex attended = AddBlock(41, 190);
  Made(40, {out_, state_}, attended);
  step_.ops.back().end = 50;
  step_.ops[AddOp("aten::transpose", {}, {42, 44}, {state_}, state_)].parent = OpIndex(step_.ops.size() - 2);
  EXPECT_THAT(Until({{state_, kHeld}}), UnorderedElementsAre(Pair(first_, kHeld), Pair(second_, kHeld)));
}

TEST_F(GraphsBehindTest, ToHandsOnWhatItIsGivenWithoutANode) {
  const BlockIndex copy = AddBlock(41, 350);
  AddOp("aten::to", {}, {40, 42}, {state_}, copy);
  EXPECT_THAT(Until({{copy, kHeld}}), UnorderedElementsAre(Pair(first_, kHeld), Pair(second_, kHeld)));
}

TEST_F(GraphsBehindTest, WhatIsComputedWithoutANodeHasNoGraph) {
  const BlockIndex argmax = AddBlock(41, 350);
  AddOp("aten::argmax", {}, {40, 42}, {state_}, argmax);
  EXPECT_TRUE(Until({{argmax, kHeld}}).empty());
}

TEST_F(GraphsBehindTest, NorHasWhatTheProgramTakesOutOfIt) {
  AddOp("aten::detach", {}, {40, 42}, {state_}, state_);
  EXPECT_TRUE(Until({{state_, kHeld}}).empty());
  EXPECT_FALSE(Until({{out_, kHeld}}).empty()) << "another one";
  EXPECT_FALSE(Until({{state_, kHeld}, {out_, kHeld}}).empty());
}

// The state is taken out of its graph before the part that is examined.
TEST_F(GraphsBehindTest, NotIfItWasBefore) {
  AddOp("aten::detach", {}, {40, 42}, {state_}, state_);
  const NodeIndex written = Made(50, {out_, state_}, state_);
  EXPECT_THAT(Until({{state_, kHeld}}, 45), UnorderedElementsAre(Pair(written, kHeld)));
}

// state.add_(more): the graph of `state` goes on from there.
TEST_F(GraphsBehindTest, WhatIsWrittenIntoItLaterIsBehindIt) {
  const BlockIndex more = AddBlock(41, 190);
  const NodeIndex made = Made(40, {x_}, more), added = Made(50, {state_, more}, state_);
  EXPECT_THAT(Until({{state_, kHeld}}), UnorderedElementsAre(Pair(first_, kHeld), Pair(second_, kHeld),
                                                             Pair(made, kHeld), Pair(added, kHeld)));
  EXPECT_THAT(Until({{a_, kHeld}}), UnorderedElementsAre(Pair(first_, kHeld)));
}

// Results of backward have no graph.
TEST_F(GraphsBehindTest, OperatorsOfBackwardAreNone) {
  AddOp("aten::to", third_, {171, 172}, {out_}, state_);
  EXPECT_THAT(Until({{state_, kHeld}}), UnorderedElementsAre(Pair(first_, kHeld), Pair(second_, kHeld)));
}

}  // namespace
}  // namespace vramscope::whatif
