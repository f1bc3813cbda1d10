// SPDX-License-Identifier: Apache-2.0
// x, in 16 bits, is used itself, and y = x.to(torch.float32) twice, in a step put together by hand; the
// gradients are added as PyTorch's engine does, which knows y's node in 16 bits alone:
//
//   recorded   own ── += first ── += second ─────────────────► the node of x
//   16 bits    own ── first waits ── first += second, converted ── own += that ─► the node of x
#include "profiler/whatif/precision/copies.h"

#include <gtest/gtest.h>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

class CopiesGradientsTest : public testing::Test, protected WrittenStep {
 protected:
  static constexpr Position kSecondAdded = 142, kRuns = 170;

  CopiesGradientsTest() {
    step_.shapes = {{}, {0, 1, true}};
    step_.dims = {128};
    x_ = AddBlock(11, 190);
    of_x_ = Node(kRuns);
    Work(10, of_x_, {AddBlock(5, 190), x_});
    uses_[0] = Use(20, 110), uses_[1] = Use(30, 120), uses_[2] = Use(40, 130);
    own_ = Gradient(111, uses_[0]), first_ = Gradient(121, uses_[1]), second_ = Gradient(131, uses_[2]);
    step_.nodes[of_x_].op = 0;
    for (uint32_t i = 0; i < 3; ++i) step_.nodes[uses_[i]].op = i + 1;
    add_first_ = Add(125, first_, own_), add_second_ = Add(kSecondAdded - 2, second_, own_);
    for (Operand& operand : step_.operands) operand.dtype = kFloatType, operand.shape = 1;
    wanted_.assign(step_.nodes.size(), kBfloat16Type);
  }

  uint32_t Use(Position at, Position node_begin) {
    const uint32_t node = Node(node_begin);
    Work(at, node, {x_, AddBlock(at + 1, 190)});
    return node;
  }
  uint32_t Gradient(Position begin, uint32_t node) {
    const uint32_t block = AddBlock(begin, 150);
    Work(begin - 0.5, node, {x_, block});
    step_.ops.back().node = node;
    step_.blocks[block].op = static_cast<uint32_t>(step_.ops.size() - 1);
    return block;
  }
  // own += gradient, or a sum of its own
  uint32_t Add(Position at, uint32_t gradient, uint32_t to) {
    Work(at, of_x_, {own_, gradient, to});
    Op& op = step_.ops.back();
    op.input_count = 2, op.first_output = op.first_input + 2;
    return static_cast<uint32_t>(step_.ops.size() - 1);
  }

  // Types as they are known by then; the second and third use see y.
  void Decide(Versions& versions, CopiesGradients& copies) {
    versions.Decide(x_, kBfloat16Type);
    copies.NoteRead(uses_[0]);
    versions.Cast(x_, kFloatType, 25, model::kNone, step_.operands[1]);
    versions.Widen(x_, 2);
    copies.NoteRead(uses_[1]);
    copies.NoteRead(uses_[2]);
    versions.Decide(own_, kBfloat16Type);
    versions.Decide(first_, kFloatType);
    versions.Decide(second_, kFloatType);
  }

  [[nodiscard]] std::vector<uint32_t> Saves() const {
    std::vector<uint32_t> saves;
    for (const Saved& saved : step_.saved) saves.push_back(saved.block);
    return saves;
  }

  // Both sums of the copy's gradients waited until the node of x runs.
  Step WithBothJoined() {
    Versions versions(step_, kBfloat16Type);
    CopiesGradients copies(step_, kBfloat16Type, wanted_, versions);
    Decide(versions, copies);
    EXPECT_TRUE(copies.Waits(step_.ops[add_first_], of_x_));
    EXPECT_TRUE(copies.Waits(step_.ops[add_second_], of_x_));
    copies.Join(of_x_);
    return std::move(versions).Finish(Saves());
  }

  uint32_t x_ = 0, of_x_ = 0, own_ = 0, first_ = 0, second_ = 0, add_first_ = 0, add_second_ = 0;
  uint32_t uses_[3] = {};
  std::vector<uint8_t> wanted_;
};

TEST_F(CopiesGradientsTest, ThoseOfTheCopyAreConvertedTogether) {
  const size_t before = step_.blocks.size() + 1;  // y
  const Step changed = WithBothJoined();
  ASSERT_EQ(changed.blocks.size(), before + 1) << "one conversion";
  const StepBlock& converted = changed.blocks[before];
  EXPECT_EQ(converted.requested, 256u);
  EXPECT_GT(converted.begin, kSecondAdded);
  EXPECT_LT(converted.end, kRuns);
  EXPECT_GT(changed.blocks[first_].end, converted.begin);
}

TEST_F(CopiesGradientsTest, ASumThatIsAnotherBlockIsMadeBehindTheConversion) {
  const uint32_t sum = AddBlock(126, 190);
  step_.operands[step_.ops[add_first_].first_output].block = sum;
  const Op& second = step_.ops[add_second_];
  step_.operands[second.first_input].block = step_.operands[second.first_output].block = sum;
  const Step changed = WithBothJoined();
  EXPECT_GT(changed.blocks[sum].begin, kSecondAdded);
  EXPECT_EQ(changed.blocks[sum].requested, 256u);
}

// A norm behind x was given own in float32, which is not what the others are added to.
TEST_F(CopiesGradientsTest, TheyAreAddedToOwnWhateverCopyWasMadeOfIt) {
  Versions versions(step_, kBfloat16Type);
  CopiesGradients copies(step_, kBfloat16Type, wanted_, versions);
  Decide(versions, copies);
  const auto widen = [&](Position at) {
    versions.Cast(own_, kFloatType, at, model::kNone, step_.operands[1]);
    return versions.Current(own_);
  };
  const uint32_t before = widen(115);
  EXPECT_TRUE(copies.Waits(step_.ops[add_first_], of_x_));
  EXPECT_EQ(versions.Current(own_), own_);
  EXPECT_EQ(widen(127), before) << "nothing was added yet";
  EXPECT_TRUE(copies.Waits(step_.ops[add_second_], of_x_));
  copies.Join(of_x_);
  EXPECT_EQ(versions.Current(own_), own_);
  EXPECT_NE(widen(kRuns), before);
}

TEST_F(CopiesGradientsTest, WhatAUseOfXItselfGivesInFloatIsNoneOfTheCopy) {
  Versions versions(step_, kBfloat16Type);
  CopiesGradients copies(step_, kBfloat16Type, wanted_, versions);
  Decide(versions, copies);
  versions.Decide(own_, kFloatType);  // x * y: PyTorch makes it float32, and the engine converts its gradient
  EXPECT_FALSE(copies.IsOfCopy(own_, of_x_));
  EXPECT_TRUE(copies.IsOfCopy(first_, of_x_));
  EXPECT_FALSE(copies.AddsUp(step_.ops[add_first_], of_x_));
}

TEST_F(CopiesGradientsTest, TwoOfTheCopyAreAddedInItsType) {
  step_.operands[step_.ops[add_second_].first_input].block = first_;
  Versions versions(step_, kBfloat16Type);
  CopiesGradients copies(step_, kBfloat16Type, wanted_, versions);
  Decide(versions, copies);
  EXPECT_TRUE(copies.AddsUp(step_.ops[add_second_], of_x_));
  EXPECT_FALSE(copies.Waits(step_.ops[add_second_], of_x_));
}

// x = x.to(torch.bfloat16); x * cos + rotate(x) * sin: the engine converts what cos made float, and knows the
// conversion's node in 16 bits.
TEST_F(CopiesGradientsTest, OfWhatTheProgramNarrowedTheyAreAddedInLow) {
  wanted_[of_x_] = kFloatType;
  Versions versions(step_, kFloatType);
  CopiesGradients copies(step_, kBfloat16Type, wanted_, versions);
  versions.Decide(x_, kFloatType);
  versions.Cast(x_, kBfloat16Type, 15, model::kNone, step_.operands[1]);
  copies.NoteRead(uses_[0]), copies.NoteRead(uses_[1]);
  versions.SetCurrent(x_, x_);
  copies.NoteRead(uses_[2]);
  versions.Decide(own_, kBfloat16Type), versions.Decide(first_, kFloatType);
  versions.Decide(second_, kFloatType);
  EXPECT_TRUE(copies.AddsUpInLow(step_.ops[add_first_], of_x_));
  EXPECT_TRUE(copies.IsOfCopy(own_, of_x_)) << "their sum";
  EXPECT_FALSE(copies.AddsUpInLow(step_.ops[add_second_], of_x_)) << "of x itself";
  wanted_[of_x_] = kBfloat16Type;
  EXPECT_FALSE(copies.AddsUpInLow(step_.ops[add_first_], of_x_));
}

// loss(softmax(..., dtype=torch.float32).to(torch.bfloat16).float()), as of a recognizer of text: a node for
// each conversion.
TEST_F(CopiesGradientsTest, OneOfAWiderCopyOfALowOneGoesThereAndBackBehindItsNode) {
  wanted_[of_x_] = kFloatType;
  const auto back = [&](bool narrowed, bool widened) {
    Versions versions(step_, kFloatType);
    CopiesGradients copies(step_, kBfloat16Type, wanted_, versions);
    versions.Decide(x_, kFloatType);
    if (narrowed) versions.Cast(x_, kBfloat16Type, 15, model::kNone, step_.operands[1]);
    if (widened) versions.Cast(x_, kFloatType, 17, model::kNone, step_.operands[1]);
    copies.NoteRead(uses_[0]);
    versions.Decide(own_, kFloatType);
    return copies.ComesBack(own_, of_x_);
  };
  EXPECT_EQ(back(true, true).from, kBfloat16Type);
  EXPECT_GT(back(true, true).there, step_.ops[step_.blocks[own_].op].end);
  EXPECT_LT(back(true, true).there, back(true, true).at);
  EXPECT_LT(back(true, true).at, kRuns);
  EXPECT_EQ(back(false, false).at, kBefore) << "of x itself";
  EXPECT_EQ(back(false, true).at, kBefore);
}

// The block of a residual stream's gradient is added to for one node after the other.
TEST_F(CopiesGradientsTest, WhatWasAddedUpForOneNodeIsNoSumForAnother) {
  wanted_[of_x_] = kFloatType, wanted_.push_back(kFloatType);
  const uint32_t other = Node(kRuns + 10);
  step_.nodes[other].op = 0;
  Versions versions(step_, kFloatType);
  CopiesGradients copies(step_, kBfloat16Type, wanted_, versions);
  versions.Decide(x_, kFloatType);
  versions.Cast(x_, kBfloat16Type, 15, model::kNone, step_.operands[1]);
  copies.NoteRead(uses_[0]), copies.NoteRead(uses_[1]);
  versions.Decide(own_, kBfloat16Type), versions.Decide(first_, kFloatType);
  ASSERT_TRUE(copies.AddsUpInLow(step_.ops[add_first_], of_x_));
  EXPECT_GT(copies.Complete(own_, of_x_), 125);
  EXPECT_LT(copies.Complete(own_, other), 125);
}

// x.to(torch.float32) twice: a node for each copy converts its gradient, and they are added in 16 bits.
TEST_F(CopiesGradientsTest, OfTwoCopiesTheyAreConvertedOneByOne) {
  step_.operands[step_.ops[add_second_].first_input].block = first_;
  Versions versions(step_, kBfloat16Type);
  CopiesGradients copies(step_, kBfloat16Type, wanted_, versions);
  versions.Decide(x_, kBfloat16Type);
  for (const uint32_t use : {1, 2}) {
    versions.SetCurrent(x_, x_);
    versions.Cast(x_, kFloatType, 10. + 5 * use, model::kNone, step_.operands[1]);
    versions.Widen(x_, use);
    copies.NoteRead(uses_[use]);
  }
  versions.Decide(first_, kFloatType);
  versions.Decide(second_, kFloatType);
  EXPECT_FALSE(copies.AddsUp(step_.ops[add_second_], of_x_));
  // Behind what made it, before the node of what was done before the conversion.
  for (const uint32_t use : uses_) step_.nodes[use].made = 50;
  EXPECT_GT(copies.Complete(first_, of_x_), 121);
  EXPECT_LT(copies.Converts(first_, of_x_, 169), kRuns);
  step_.nodes.push_back(step_.nodes[of_x_]);
  step_.nodes.back().begin = 160;
  EXPECT_LT(copies.Converts(first_, of_x_, 169), 160);
  EXPECT_LT(copies.Converts(second_, of_x_, 169), copies.Converts(first_, of_x_, 169));
}

// y = x.to(torch.bfloat16) of an x in float32: another node converts the gradient of y before that of x.
TEST_F(CopiesGradientsTest, WhatTheProgramNarrowedIsConvertedBackBehindTheNodesBetween) {
  Versions versions(step_, kBfloat16Type);
  const CopiesGradients copies(step_, kBfloat16Type, wanted_, versions);
  versions.Decide(x_, kFloatType);
  EXPECT_EQ(versions.NarrowedAt(x_), kBefore);
  EXPECT_EQ(copies.ConvertsBack(of_x_, 115, 169), 115);
  versions.Cast(x_, kBfloat16Type, 25, model::kNone, step_.operands[1]);
  EXPECT_EQ(versions.NarrowedAt(x_), 25);
  for (const uint32_t use : uses_) step_.nodes[use].made = 50;
  EXPECT_NEAR(copies.ConvertsBack(of_x_, 115, 169), 132, 0.1) << "behind those of all that was made of y";
  EXPECT_LT(copies.ConvertsBack(of_x_, 115, 131), 131.5) << "not behind the latest moment";
  step_.nodes[uses_[2]].made = 20;
  EXPECT_NEAR(copies.ConvertsBack(of_x_, 115, 169), 122, 0.1) << "the last one is older";
  step_.nodes[uses_[1]].made = 20;
  EXPECT_EQ(copies.ConvertsBack(of_x_, 115, 169), 115);
}

TEST_F(CopiesGradientsTest, WhatAutocastConvertsOrWidensIsNotNarrowedByTheProgram) {
  Versions versions(step_, kBfloat16Type);
  versions.Decide(x_, kFloatType);
  versions.Cast(x_, kBfloat16Type, 25, 2, step_.operands[1]);
  EXPECT_EQ(versions.NarrowedAt(x_), kBefore) << "an operator did, for itself";
  versions.Decide(own_, kBfloat16Type);
  versions.Cast(own_, kFloatType, 25, model::kNone, step_.operands[1]);
  EXPECT_EQ(versions.NarrowedAt(own_), kBefore);
  versions.Decide(first_, kFloatType);
  versions.Cast(first_, kBfloat16Type, 125, model::kNone, step_.operands[1]);
  EXPECT_EQ(versions.NarrowedAt(first_), kBefore) << "in backward";
}

TEST_F(CopiesGradientsTest, ParametersThatNothingWorksOnAreConvertedUnlessTheyAreSeenToBeIntegers) {
  const uint32_t unused = AddBlock(kBefore, kForever), codes = AddBlock(kBefore, kForever);
  for (const uint32_t block : {unused, codes}) step_.blocks[block].category = classify::Category::kParameter;
  Work(60, uses_[0], {codes, AddBlock(61, 190)});
  for (Operand& operand : step_.operands) operand.dtype = operand.block == codes ? 0 : kFloatType;  // uint8
  Versions versions(step_, kBfloat16Type);
  const Step changed = std::move(versions).Finish(Saves());
  EXPECT_EQ(changed.blocks[unused].requested, 256u);
  EXPECT_EQ(changed.blocks[codes].requested, 512u);
}

// cos.to(x.dtype), which a function returns: its caller holds that.
TEST_F(CopiesGradientsTest, VariablesHoldWhatAFunctionReturnedInThePlaceOfTheBlock) {
  Module("layer", 28, 60), Module("early", 24, 26);
  step_.held = {{x_, 0, Text("cos"), false}, {x_, 1, Text("cos"), false}, {own_, 0, Text("y"), false}};
  Versions versions(step_, kBfloat16Type);
  versions.Decide(x_, kFloatType), versions.Decide(own_, kFloatType);
  versions.Cast(x_, kBfloat16Type, 27, model::kNone, step_.operands[1]);
  versions.Cast(own_, kBfloat16Type, 27, model::kNone, step_.operands[1]);
  versions.Return(x_, 28);
  const uint32_t copy = versions.Current(x_);
  const Step changed = std::move(versions).Finish(Saves());
  EXPECT_EQ(changed.held[0].block, copy);
  EXPECT_EQ(changed.held[1].block, x_) << "not made by then";
  EXPECT_EQ(changed.held[2].block, own_) << "was not returned";
}

// x = x.contiguous(): who had x holds the copy.
TEST_F(CopiesGradientsTest, WhatIsReplacedGoesWhoeverHeldIt) {
  const auto end = [&] {
    Versions versions(step_, kBfloat16Type);
    versions.Decide(x_, kFloatType);
    versions.Held(x_, 60);
    versions.Replace(x_, kBfloat16Type, 27, step_.operands[1]);
    return std::move(versions).Finish(std::vector<uint32_t>(step_.saved.size(), first_)).blocks[x_].end;
  };
  EXPECT_NEAR(end(), 27, 0.1);
  Module("layer", 26, 40);
  EXPECT_GE(end(), 60) << "who called the layer with it has it";
}

// x = x.contiguous(), where nobody knows whether no other variable has x: those that are known do not.
TEST_F(CopiesGradientsTest, NamesThatWereGivenTheReplacementHoldThatAlone) {
  const auto until = [&](std::vector<NamedSince> since) {
    step_.named = {{x_, 60, 60}};
    step_.named_since = std::move(since);
    Versions versions(step_, kBfloat16Type);
    versions.Decide(x_, kFloatType);
    versions.Replace(x_, kBfloat16Type, 27, step_.operands[1]);
    return std::move(versions).Finish(std::vector<uint32_t>(step_.saved.size(), first_)).named[0].until;
  };
  EXPECT_EQ(until({}), 60) << "they are not told apart";
  EXPECT_EQ(until({{x_, 12, 28}, {x_, 27, 60}}), 28);
  EXPECT_EQ(until({{x_, 12, 50}, {x_, 27, 60}}), 50);
}

TEST_F(CopiesGradientsTest, WhatIsConvertedForAnotherNodeIsMadeOfWhatWasHandedOn) {
  Versions versions(step_, kBfloat16Type);
  versions.Decide(first_, kFloatType);
  versions.Cast(first_, kBfloat16Type, 125, model::kNone, step_.operands[1]);
  const uint32_t copy = versions.Current(first_);
  versions.Used(first_, 130);
  versions.CastFrom(first_, first_, kBfloat16Type, 140, step_.operands[1]);
  EXPECT_NE(versions.Current(first_), copy) << "nobody shares it";
  versions.Used(first_, 148);
  const Step changed = std::move(versions).Finish(Saves());
  EXPECT_NEAR(changed.blocks[first_].end, 140, 0.1);
  EXPECT_NEAR(changed.blocks[copy].end, 130, 0.1);
  EXPECT_EQ(changed.blocks[copy + 1].end, 150);
  EXPECT_EQ(changed.blocks[copy + 1].requested, 256u);
}

// self.norm(x.to(torch.bfloat16)) of an x in float32 makes it wide again: two nodes convert what comes back.
TEST_F(CopiesGradientsTest, ThoseOfAWiderCopyOfALowOneGoThereAndBack) {
  wanted_.assign(step_.nodes.size(), kFloatType);
  Versions versions(step_, kBfloat16Type);
  CopiesGradients copies(step_, kBfloat16Type, wanted_, versions);
  for (const uint32_t block : {x_, own_, first_, second_}) versions.Decide(block, kFloatType);
  copies.NoteRead(uses_[0]);
  EXPECT_FALSE(copies.Waits(step_.ops[add_first_], of_x_)) << "of x itself";
  versions.Cast(x_, kBfloat16Type, 24, model::kNone, step_.operands[1]);
  versions.Cast(x_, kFloatType, 25, model::kNone, step_.operands[1]);
  copies.NoteRead(uses_[1]);
  copies.NoteRead(uses_[2]);
  const size_t before = step_.blocks.size() + 2;  // the two of forward
  EXPECT_TRUE(copies.Waits(step_.ops[add_first_], of_x_));
  EXPECT_TRUE(copies.Waits(step_.ops[add_second_], of_x_));
  copies.Join(of_x_);
  EXPECT_EQ(versions.Current(own_), own_);
  const Step changed = std::move(versions).Finish(Saves());
  ASSERT_EQ(changed.blocks.size(), before + 2);
  EXPECT_EQ(changed.blocks[before].requested, 256u);
  EXPECT_EQ(changed.blocks[before + 1].requested, 512u);
  EXPECT_GT(changed.blocks[before + 1].begin, changed.blocks[before].begin);
  EXPECT_LT(changed.blocks[before].end, changed.blocks[before + 1].end);
}

// state.to(torch.bfloat16) @ c, and state * g: the node of the first runs behind all that was made since.
TEST_F(CopiesGradientsTest, ThatOfALowCopyIsAddedWhenItsNodeRuns) {
  wanted_.assign(step_.nodes.size(), kFloatType);
  step_.blocks[first_].end = 128;
  Versions versions(step_, kBfloat16Type);
  CopiesGradients copies(step_, kBfloat16Type, wanted_, versions);
  versions.Decide(x_, kFloatType), versions.Decide(own_, kFloatType);
  versions.Cast(x_, kBfloat16Type, 25, model::kNone, step_.operands[1]);
  copies.NoteRead(uses_[1]);
  versions.Decide(first_, kBfloat16Type);
  for (const uint32_t use : uses_) step_.nodes[use].made = 50;
  const size_t before = step_.blocks.size() + 1;
  EXPECT_TRUE(copies.Waits(step_.ops[add_first_], of_x_));
  const Step changed = std::move(versions).Finish(Saves());
  ASSERT_EQ(changed.blocks.size(), before + 1);
  EXPECT_EQ(changed.blocks[before].requested, 512u);
  EXPECT_NEAR(changed.blocks[before].begin, kRuns, 1) << "behind the other nodes";
  EXPECT_GT(changed.blocks[first_].end, changed.blocks[before].begin) << "waits for that";
}

// self.scale.float(): a node of its own, behind those of all that was computed since, converts the gradient.
TEST_F(CopiesGradientsTest, ThatOfAWeightMadeWiderIsConvertedByTheConversionsNode) {
  step_.trained = {x_};
  step_.blocks[x_].name = step_.blocks[first_].name = "scale";
  step_.backward = {{100, 180}};
  for (const uint32_t use : uses_) step_.nodes[use].made = 50;
  Versions versions(step_, kBfloat16Type);
  CopiesGradients copies(step_, kBfloat16Type, wanted_, versions);
  Decide(versions, copies);
  EXPECT_NEAR(copies.ConvertsLeaf(first_), kRuns, 1);
  EXPECT_EQ(copies.ConvertsLeaf(own_), kBefore) << "of what was not made wider";
  EXPECT_EQ(copies.WidenedFor(of_x_, uses_[0]), kBefore);
  EXPECT_EQ(copies.WidenedFor(of_x_, uses_[1]), 25);
}

}  // namespace
}  // namespace vramscope::whatif
