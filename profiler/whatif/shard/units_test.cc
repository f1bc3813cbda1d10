// SPDX-License-Identifier: Apache-2.0
// Units of FSDP call by call, in hand-written steps: layers that are called twice, and frozen ones. Oracle:
// FSDPParamGroup.pre_backward and post_backward of PyTorch 2.15. Backward of each call gathers its unit
// unless it exists, gathers ahead what was called before it in forward, and frees it.
//
//   forward     10 layer ─ 20 layer ─ 30 layer ...      backward    from 110 on, 20 for each, the last first
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/shard/shard.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;

class ShardUnitsTest : public testing::Test, protected WrittenOperators {
 protected:
  static constexpr int64_t kBackward = 110, kEach = 20, kRuns = 4;  // duration of a node

  struct Call {
    int layer;
    bool trained = true;  // backward runs its nodes
  };

  // This many layers, and a parameter that is in none of them.
  void Layers(int count, const std::vector<Call>& calls) {
    for (int layer = 0; layer < count; ++layer)
      parameters_.push_back(Parameter(kPaths[layer] + std::string(".weight")));
    Parameter("head.weight");
    std::vector<CallIndex> modules;
    int64_t back = kBackward + kEach * static_cast<int64_t>(calls.size());
    for (size_t i = 0; i < calls.size(); ++i) {
      const Position begin = 10 + 10 * i;
      back -= kEach;
      modules.push_back(step_.modules.Next());
      Module(kPaths[calls[i].layer], begin, begin + 10);
      const BlockIndex made = AddBlock(HooksAfter(begin + 2, 50), 190);
      const OpIndex op = AddOp("aten::linear", {}, {begin + 2, begin + 4}, {made}, made);
      if (calls[i].trained) AddNode("LinearBackward0", op, back);
    }
    units_ = UnitsOf(step_, modules);
  }
  BlockIndex Parameter(const std::string& name) {
    const BlockIndex block = AddBlock(kBefore, kForever);
    step_.blocks[block].category = Category::kParameter;
    step_.blocks[block].name = step_.Text(Text(name));
    return block;
  }
  // Lives of a layer's parameter after unpacking, or of the gathered block.
  [[nodiscard]] std::vector<StepBlock> Copies(int layer, bool taken_out, bool reshard = true) const {
    std::vector<StepBlock> copies;
    for (const StepBlock& block : FullySharded(step_, units_, 2, reshard).blocks)
      if (block.copy_of == parameters_[static_cast<size_t>(layer)] && (block.stream == 0) == taken_out)
        copies.push_back(block);
    return copies;
  }
  [[nodiscard]] std::vector<StepBlock> Parameters(int layer, bool reshard = true) const {
    return Copies(layer, true, reshard);
  }
  [[nodiscard]] std::vector<StepBlock> Gathered(int layer, bool reshard = true) const {
    return Copies(layer, false, reshard);
  }

  static auto Life(Position begin, Position end) {
    return AllOf(Field("begin", &StepBlock::begin, Field(&Position::event, begin.event)),
                 Field("end", &StepBlock::end, Field(&Position::event, end.event)));
  }
  static auto Time(Position begin, Position end) {
    return AllOf(Field("begin", &Window::begin, begin), Field("end", &Window::end, end));
  }

  static constexpr const char* kPaths[] = {"layers.0", "layers.1", "layers.2"};
  std::vector<BlockIndex> parameters_;  // by layer
  std::vector<Unit> units_;
};

TEST_F(ShardUnitsTest, EachCallHasABackwardOfItsOwn) {
  Layers(2, {{0}, {1}, {0}, {1, false}});
  ASSERT_EQ(units_.size(), 3u);
  EXPECT_THAT(units_[0].backwards, ElementsAre(Time(170, 174), Time(130, 134)));
  EXPECT_THAT(units_[0].backward, Time(130, 174)) << "the whole stretch";
  EXPECT_THAT(units_[1].backwards, ElementsAre(Time(150, 154), Time(kForever, kBefore))) << "none";
}

// HRM's two levels, which take turns.
TEST_F(ShardUnitsTest, AUnitThatIsCalledTwiceIsLetGoOfBehindBackwardOfEachCall) {
  Layers(2, {{0}, {1}, {0}});
  EXPECT_THAT(Parameters(0), ElementsAre(Life(10, 20), Life(30, 40), Life(110, 114), Life(150, 154)));
  EXPECT_THAT(Parameters(1), ElementsAre(Life(20, 30), Life(130, 134)));
}

TEST_F(ShardUnitsTest, ItIsGatheredAheadForEachOfThem) {
  Layers(2, {{0}, {1}, {0}});
  EXPECT_THAT(Gathered(0), ElementsAre(Life(10, 20), Life(30, 40), Life(110, 110), Life(130, 150)));
  EXPECT_THAT(Gathered(1), ElementsAre(Life(20, 30), Life(110, 130)));
}

TEST_F(ShardUnitsTest, TwoCallsInARowGatherForThemselves) {
  Layers(2, {{1}, {0}, {0}});
  EXPECT_THAT(Parameters(0), ElementsAre(Life(20, 30), Life(30, 40), Life(110, 114), Life(130, 134)));
  EXPECT_THAT(Gathered(0), ElementsAre(Life(20, 30), Life(30, 40), Life(110, 110), Life(130, 130)))
      << "none ahead of itself";
}

// The unit's parameters are freed when the engine has added both gradients.
TEST_F(ShardUnitsTest, OnlyBehindTheLastCallGradientsAreWaitedFor) {
  Layers(2, {{0}, {1}, {0}});
  units_[0].backward.end = 160;
  EXPECT_THAT(Parameters(0), ElementsAre(Life(10, 20), Life(30, 40), Life(110, 114), Life(150, 160)));
}

// Even if the next call leaves no gradients yet.
TEST_F(ShardUnitsTest, WhatALayerReducedStaysUntilBackwardOfTheNextCallIsOver) {
  Layers(2, {{0}, {0}, {1}});
  const BlockIndex gradient = AddBlock(111, 190);
  step_.blocks[gradient].name = step_.blocks[parameters_[1]].name;
  step_.blocks[gradient].accumulated = 113;
  const auto reduced = [&] {
    std::vector<StepBlock> sums = Parameters(1);
    std::erase_if(
        sums, [](const StepBlock& block) { return block.begin < HooksAfter(113, 50) || block.end < 115; });
    return sums;
  };
  EXPECT_THAT(reduced(), ElementsAre(Life(114, 134)));
  units_[0].backwards[0].begin = kForever;
  EXPECT_THAT(reduced(), ElementsAre(Life(114, 154))) << "called once";
}

TEST_F(ShardUnitsTest, AFrozenUnitBeforeTheLastIsGatheredAheadAndStaysUntilBackwardIsOver) {
  Layers(3, {{0, false}, {1}, {2}});
  EXPECT_THAT(Gathered(0), ElementsAre(Life(10, 20), Life(130, 200)));
  EXPECT_THAT(Parameters(0), ElementsAre(Life(10, 20))) << "nothing needs it";
  EXPECT_THAT(Gathered(1), ElementsAre(Life(20, 30), Life(110, 130)));
  EXPECT_THAT(Parameters(1), ElementsAre(Life(20, 30), Life(130, 134)));
}

TEST_F(ShardUnitsTest, OfSeveralFrozenUnitsTheOneDirectlyBeforeIs) {
  Layers(3, {{0, false}, {1, false}, {2}});
  EXPECT_THAT(Gathered(0), ElementsAre(Life(10, 20)));
  EXPECT_THAT(Gathered(1), ElementsAre(Life(20, 30), Life(110, 200)));
}

TEST_F(ShardUnitsTest, AFrozenUnitThatIsThereIsNotGatheredAgain) {
  Layers(3, {{0, false}, {1}, {0, false}, {2}});
  EXPECT_THAT(Gathered(0), ElementsAre(Life(10, 20), Life(30, 40), Life(110, 200)));
  EXPECT_THAT(Parameters(0), ElementsAre(Life(10, 20), Life(30, 40)));
}

// ZeRO-2 frees a unit's gradients when they have been reduced.
TEST_F(ShardUnitsTest, KeptUnitsGoWithTheirBackwardAndFrozenOnesWithThatOfTheModel) {
  Layers(2, {{0, false}, {1}});
  EXPECT_THAT(Parameters(0, false), ElementsAre(Life(10, 200)));
  EXPECT_THAT(Parameters(1, false), ElementsAre(Life(20, 114)));
}

TEST_F(ShardUnitsTest, KeptUnitsThatAreCalledAgainGoWithTheFirstBackwardAndAreGatheredForTheOthers) {
  Layers(2, {{0}, {1}, {0}});
  EXPECT_THAT(Parameters(0, false), ElementsAre(Life(10, 114), Life(150, 154)));
  EXPECT_THAT(Parameters(1, false), ElementsAre(Life(20, 134)));
  EXPECT_THAT(Gathered(0, false), ElementsAre(Life(10, 20), Life(130, 150)));
  EXPECT_THAT(Gathered(1, false), ElementsAre(Life(20, 40)))
      << "until the model returns: none is gathered behind";
}

// The list has six numbers for the gradient, one for its thread block, and two for its end.
TEST_F(ShardUnitsTest, WhatPutsGradientsTogetherTakesAListOfThem) {
  Layers(1, {{0}});
  const BlockIndex gradient = AddBlock(112, 190);
  step_.blocks[gradient].name = step_.blocks[parameters_[0]].name;
  step_.blocks[gradient].accumulated = 113;
  EXPECT_THAT(FullySharded(step_, units_, 2, true).blocks,
              testing::Contains(AllOf(Field(&StepBlock::requested, (6 + 1 + 2) * 8),
                                      Field(&StepBlock::begin, testing::Gt(Position(114))))));
}

// X-Codec's semantic decoder, which the model does not call.
TEST_F(ShardUnitsTest, ListsThatNothingCallsAreUnitsWhichNothingGathers) {
  for (const char* name : {"spare.0.inner.weight", "spare.0.inner.bias", "spare.1.inner.weight",
                           "plain.0.weight", "plain.1.weight", "single.0.inner.weight"})
    Parameter(name);
  const BlockIndex used = Parameter("read.0.inner.weight");
  Parameter("read.1.inner.weight");
  AddOp("aten::mul", {}, {10, 12}, {used}, {});
  Layers(1, {{0}});
  EXPECT_THAT(UncalledUnits(step_, ""), ElementsAre("spare.0", "spare.1", "read.1"))
      << "as train.py: members that consist of modules, of several";
  EXPECT_THAT(UncalledUnits(step_, "plain.*,read.*"), ElementsAre("plain.0", "plain.1", "read.1"));
  units_ = UnitsOf(step_, {0}, UncalledUnits(step_, ""));
  ASSERT_EQ(units_.size(), 5u);
  EXPECT_EQ(units_[1].parameters.size(), 2u);
  const Step sharded = FullySharded(step_, units_, 2, true);
  for (const BlockIndex parameter : units_[1].parameters) {
    EXPECT_EQ(sharded.blocks[parameter].requested, step_.blocks[parameter].requested / 2);
    EXPECT_THAT(sharded.blocks, testing::Not(testing::Contains(Field(&StepBlock::copy_of, parameter))));
  }
}

// An image encoder that the program does not call is sharded all the same.
TEST_F(ShardUnitsTest, PatternsOfUnitsThatNothingCallsAreLeftOut) {
  Parameter("spare.0.inner.weight"), Parameter("spare.1.inner.weight");
  Layers(1, {{0}});
  const std::string_view patterns = "spare.*,layers.*,none.*";
  const std::vector<std::string_view> uncalled = UncalledUnits(step_, patterns);
  EXPECT_EQ(CalledPatterns(step_, patterns, uncalled), "layers.*,none.*") << "which is refused";
  EXPECT_EQ(CalledPatterns(step_, "spare.*", uncalled), "");
}

// fully_shard() on modules without parameters leaves everything to the model. The parameter names of a second
// model do not begin with the paths of its modules.
TEST_F(ShardUnitsTest, UnitsWithoutAnyOfTheParametersAreRefused) {
  Layers(2, {{0}, {1}});
  step_.optimizer = {{191, 199}};
  step_.trained = parameters_;
  const auto answer = [&] { return *ShardLever().Rewrite(step_, "fsdp:2:layers.*"); };
  EXPECT_TRUE(answer().ok());
  for (const BlockIndex parameter : parameters_) step_.blocks[parameter].name = "Net#2.layers.0.weight";
  ASSERT_FALSE(answer().ok());
  EXPECT_THAT(answer().error().sentence,
              testing::StartsWith("no parameter of the recorded step is in layers.*"));
}

// Names that no PyTorch module has.
TEST_F(ShardUnitsTest, AListHasMembersWithNumbers) {
  for (const char* name :
       {"spare..inner.weight", "spare.0.inner.weight", "spare.a.inner.weight", ".weight", ""})
    Parameter(name);
  EXPECT_THAT(UncalledUnits(step_, ""), ElementsAre()) << "of which it has one";
}

// A loss module is called after the model has returned and has resharded what it gathered last.
TEST_F(ShardUnitsTest, AModuleWithoutParametersBehindTheModelIsNoPartOfIt) {
  Module("Net", 5, 60);
  Layers(2, {{0}, {1}});
  Module("Loss", 70, 100);
  EXPECT_THAT(UnitsOf(step_, {1, 2}).back().forward, ElementsAre(Time(5, 60)));
  AddOp("aten::mul", {}, {80, 82}, {parameters_[1]}, {});
  EXPECT_THAT(UnitsOf(step_, {1, 2}).back().forward, ElementsAre(Time(5, 100))) << "it has one";
}

// PSPNet's encoder: its last two levels are not called, and are listed before the decoder.
TEST_F(ShardUnitsTest, UnitsAreMadeAsModulesLieAndNotAsTheyAreCalled) {
  Layers(3, {{2}, {0}});
  step_.first.begin = 100;
  for (StepBlock& block : step_.blocks) {
    block.id = static_cast<uint32_t>(run_.blocks.size());
    model::Block made;
    made.alloc_event = 10 + block.id;
    run_.blocks.push_back(made);
  }
  units_ = UnitsOf(step_, {0, 1}, {kPaths[1]});
  std::vector<std::string_view> paths;
  for (const Unit* const unit : AsModulesLie(step_, units_)) paths.push_back(unit->path);
  EXPECT_THAT(paths, ElementsAre(kPaths[0], kPaths[1], kPaths[2], ""));
  const Step sharded = FullySharded(step_, units_, 2, true);
  for (const size_t layer : {0, 1})
    EXPECT_LT(sharded.blocks[parameters_[layer]].set_up, sharded.blocks[parameters_[layer + 1]].set_up);
}

TEST_F(ShardUnitsTest, AUnitThatIsCalledIsThereOnce) {
  Layers(2, {{0}, {1}});
  EXPECT_EQ(UnitsOf(step_, {0, 1}, {"layers.0"}).size(), 3u);
}

// A table of one row, of which the second rank gets nothing, and a table of the same size that is split in
// two.
class ShardStateTest : public testing::Test, protected WrittenOperators {
 protected:
  ShardStateTest() {
    step_.optimizer.push_back({200, 300});
    Module("net", 0, 90);
    const std::vector<int64_t> shapes[] = {{1, 128}, {128, 1}};
    for (size_t i = 0; i < 2; ++i) {
      const BlockIndex parameter = Named(kNames[i], Category::kParameter);
      step_.trained.push_back(parameter);
      AddOp("aten::mul", {}, {10, 12}, {parameter}, {});
      Operand& used = step_.operands.back();
      used.shape = static_cast<uint32_t>(step_.shapes.size()), used.flags = trace::kTensorIsLeaf;
      step_.shapes.push_back({static_cast<uint32_t>(step_.dims.size()), 2, true});
      step_.dims.insert(step_.dims.end(), shapes[i].begin(), shapes[i].end());
    }
  }
  BlockIndex Named(const std::string& name, Category category) {
    const BlockIndex block = AddBlock(kBefore, kForever);
    step_.blocks[block].category = category;
    step_.blocks[block].name = step_.Text(Text(name));
    return block;
  }
  [[nodiscard]] uint64_t BytesOnOneOfTwo(BlockIndex block) const {
    return FullySharded(step_, UnitsOf(step_, {}), 2, true).blocks[block].requested;
  }

  static constexpr const char* kNames[] = {"row", "column"};
};

TEST_F(ShardStateTest, StateHasTheShardOfItsOwnParameter) {
  for (const bool column : {false, true}) {
    EXPECT_EQ(BytesOnOneOfTwo(step_.trained[column]), column ? 256u : 512u);
    const BlockIndex state = Named(std::string("exp_avg of ") + kNames[column], Category::kOptimizerState);
    EXPECT_EQ(BytesOnOneOfTwo(state), column ? 256u : 512u) << kNames[column];
  }
}

TEST_F(ShardStateTest, WhatTheOptimizerComputesDoesToo) {
  const BlockIndex row = AddBlock(210, 215), column = AddBlock(220, 225);
  EXPECT_EQ(BytesOnOneOfTwo(row), 512u) << "in the parameters' order";
  EXPECT_EQ(BytesOnOneOfTwo(column), 256u);
}

TEST_F(ShardStateTest, StateOfAnotherSizeIsCutInTwo) {
  const BlockIndex state = Named("factor of row", Category::kOptimizerState);
  step_.blocks[state].requested = 64;
  EXPECT_EQ(BytesOnOneOfTwo(state), 32u);
}

// Marian's position tables: ZeroRedundancyOptimizer distributes model.parameters().
TEST_F(ShardStateTest, FrozenParametersAreDealtOutToo) {
  EXPECT_THAT(WithOwnState(step_, 2).trained, ElementsAre(step_.trained[0]));
  step_.blocks[Named("positions", Category::kParameter)].requested = 700;
  EXPECT_THAT(WithOwnState(step_, 2).trained, ElementsAre(step_.trained[0], step_.trained[1]))
      << "the other rank has the positions";
  step_.blocks[Named("table", Category::kParameter)].requested = 100'000;
  EXPECT_THAT(WithOwnState(step_, 2).trained, ElementsAre()) << "the rank that gets most trains nothing";
}

}  // namespace
}  // namespace vramscope::whatif
