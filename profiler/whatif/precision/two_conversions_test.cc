// SPDX-License-Identifier: Apache-2.0
// Gradients that pass the nodes of two conversions, in steps put together by hand, under autocast.
//
//   forward    x (16 bits) ─ x.to(torch.float32) ─ linear, which autocast gives 16 bits again
//   backward   linear's node ─ float32 ─ 16 bits ─ the node of what made x
//
//   forward    x (float32) ─ x.to(torch.bfloat16) ─ weight * that, a product in float32
//   backward   the product's node ─ 16 bits ─ float32 ─ the node of what made x
//
//   forward    residual (float32) + norm(x), which is computed in float32 and converted back to 16 bits
//   backward   AddBackward ─ float32 ─ 16 bits ─ float32 ─ the norm's node
//                └ the residual's node: as it is
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using testing::ElementsAre;

class TwoConversionsTest : public testing::Test, protected WrittenOperators {
 protected:
  static constexpr Position kNodeOfX = 150;

  TwoConversionsTest() {
    weight_ = AddBlock(kBefore, kForever);
    step_.trained = {weight_};
    hidden_ = AddBlock(11, 190), out_ = AddBlock(41, 190), gradient_ = AddBlock(113, 190);
    linear_ = AddOp("aten::linear", kNone, {10, 12}, {weight_}, hidden_);
  }

  void To(const char* type, Position at, uint32_t block) {
    const uint32_t to = AddOp("aten::to", kNone, {at, at + 2}, {block}, block);
    step_.ops[to].dtype = Text(type);
  }
  // The node of `last`, which made `out_`, gives its gradient to that of `first`.
  uint32_t Differentiate(const char* name, uint32_t last, uint32_t first) {
    const uint32_t of_last = AddNode(name, last, 110), of_first = AddNode("FirstBackward0", first, kNodeOfX);
    AddOp(name, of_last, {111, 119}, {out_}, gradient_);
    AddOp("FirstBackward0", of_first, {151, 153}, {gradient_}, kNone);
    return of_last;
  }
  void WidenThenMultiply(bool widen = true) {
    if (widen) To("torch.float32", 20, hidden_);
    Differentiate("MmBackward0", AddOp("aten::linear", kNone, {40, 42}, {hidden_, weight_}, out_), linear_);
  }
  // y = x.float(); y = y * y; weight * y.to(torch.bfloat16)
  void NarrowThenScale(bool narrow = true) {
    const uint32_t square = AddBlock(26, 190);
    To("torch.float32", 20, hidden_);
    const uint32_t squares = AddOp("aten::mul", kNone, {25, 27}, {hidden_, hidden_}, square);
    if (narrow) To("torch.bfloat16", 30, square);
    Differentiate("MulBackward0", AddOp("aten::mul", kNone, {40, 42}, {weight_, square}, out_), squares);
  }

  // residual + norm(x); the residual's node is the last one.
  void AddNormed(bool narrow = true) {
    const uint32_t residual = AddBlock(6, 190), normed = AddBlock(26, 190);
    const uint32_t table = AddOp("aten::embedding", kNone, {5, 7}, {weight_}, residual);
    To("torch.float32", 20, hidden_);
    const uint32_t norm = AddOp("aten::mul", kNone, {25, 27}, {hidden_, hidden_}, normed);
    if (narrow) To("torch.bfloat16", 30, normed);
    const uint32_t add = AddOp("aten::add", kNone, {40, 42}, {residual, normed}, out_);
    step_.blocks[gradient_].begin = 105;
    const uint32_t of_add = AddNode("AddBackward0", add, 110), of_norm = AddNode("MulBackward0", norm, 120);
    const uint32_t of_table = AddNode("EmbeddingBackward0", table, kNodeOfX);
    AddOp("AddBackward0", of_add, {111, 113}, {gradient_}, kNone);
    AddOp("MulBackward0", of_norm, {121, 123}, {gradient_}, kNone);
    AddOp("EmbeddingBackward0", of_table, {151, 153}, {gradient_}, kNone);
  }

  // hidden + norm(hidden), all in 16 bits outside the norm, and a layer behind; hidden's node is the last
  // one.
  void AddNormedInLow() {
    const uint32_t residual = AddBlock(16, 190), normed = AddBlock(26, 190), behind = AddBlock(51, 190);
    const uint32_t made = AddOp("aten::linear", kNone, {15, 17}, {weight_}, residual);
    To("torch.float32", 20, hidden_);
    const uint32_t norm = AddOp("aten::mul", kNone, {25, 27}, {hidden_, hidden_}, normed);
    To("torch.bfloat16", 30, normed);
    const uint32_t add = AddOp("aten::add", kNone, {40, 42}, {residual, normed}, out_);
    const uint32_t last = AddOp("aten::linear", kNone, {50, 52}, {out_, weight_}, behind);
    step_.blocks[gradient_].begin = 105;
    const uint32_t of_last = AddNode("MmBackward0", last, 100), of_add = AddNode("AddBackward0", add, 110);
    const uint32_t of_norm = AddNode("MulBackward0", norm, 120);
    const uint32_t of_residual = AddNode("FirstBackward0", made, kNodeOfX);
    AddOp("MmBackward0", of_last, {104, 106}, {behind}, gradient_);
    AddOp("AddBackward0", of_add, {111, 113}, {gradient_}, kNone);
    AddOp("MulBackward0", of_norm, {121, 123}, {gradient_}, kNone);
    AddOp("FirstBackward0", of_residual, {151, 153}, {gradient_}, kNone);
  }

  struct Gradients {
    StepBlock itself;
    std::vector<StepBlock> copies;

    // Bytes of the gradient, then of its copies.
    [[nodiscard]] std::vector<uint64_t> Sizes() const {
      std::vector<uint64_t> sizes{itself.requested};
      for (const StepBlock& copy : copies) sizes.push_back(copy.requested);
      return sizes;
    }
  };
  [[nodiscard]] Gradients UnderAutocast() const {
    const whatif::Step changed = whatif::UnderAutocast(step_, kBfloat16Type);
    Gradients found{changed.blocks[gradient_], {}};
    for (const StepBlock& block : changed.blocks)
      if (block.copy_of == gradient_) found.copies.push_back(block);
    return found;
  }

  uint32_t weight_ = 0, hidden_ = 0, out_ = 0, gradient_ = 0, linear_ = 0;
};

TEST_F(TwoConversionsTest, WhatAProgramWidensAndAutocastNarrowsHasAGradientThatIsWideBetween) {
  WidenThenMultiply();
  const Gradients gradients = UnderAutocast();
  ASSERT_THAT(gradients.Sizes(), ElementsAre(256u, 512u, 256u));
  const StepBlock &wide = gradients.copies[0], &back = gradients.copies[1];
  EXPECT_LT(wide.begin, back.begin);
  EXPECT_GE(wide.end, back.begin);
  EXPECT_LT(back.begin, kNodeOfX);
  EXPECT_LT(wide.end, kNodeOfX);
  EXPECT_LT(gradients.itself.end, back.begin);
  EXPECT_EQ(back.end, 190) << "what the node is given";
}

// The node that autocast's conversion made, behind all of its operator: what that kept is gone.
TEST_F(TwoConversionsTest, TheFirstOneRunsWhenTheNodeBeforeItHasLetGoOfAll) {
  WidenThenMultiply();
  constexpr Position kDone = 125;
  step_.nodes[0].end = kDone;
  EXPECT_GT(UnderAutocast().copies.at(0).begin, kDone);
}

TEST_F(TwoConversionsTest, WhereTheProgramWidensNothingThereIsNone) {
  WidenThenMultiply(false);
  EXPECT_TRUE(UnderAutocast().copies.empty());
}

// tanh(x.float()): the same node gives it 16 bits as where y = x.float() has a name.
TEST_F(TwoConversionsTest, WhatOnlyOneOperatorIsGivenWidenedHasTheNodeThatWidenedIt) {
  To("torch.float32", 20, hidden_);
  Differentiate("TanhBackward0", AddOp("aten::tanh", kNone, {40, 42}, {hidden_}, out_), linear_);
  const Gradients named = UnderAutocast();
  for (Op& op : step_.ops) op.taken = op.begin == 20;
  const Gradients taken = UnderAutocast();
  ASSERT_THAT(taken.Sizes(), ElementsAre(512u, 256u));
  EXPECT_EQ(taken.copies[0].begin, named.copies.at(0).begin);
  EXPECT_GT(taken.copies[0].begin, 119) << "behind the node of tanh";
}

// Of nodes that are ready the engine runs the one that was made last.
TEST_F(TwoConversionsTest, TheSecondOneRunsBehindNodesThatWereMadeBehindItAndBeforeOlderOnes) {
  WidenThenMultiply();
  step_.nodes.push_back({Text("younger"), linear_, 25, 122, 130});
  EXPECT_GT(UnderAutocast().copies.at(1).begin, 130);
  step_.nodes.push_back({Text("older"), linear_, 5, 140, 145});
  EXPECT_GT(UnderAutocast().copies.at(1).begin, 130);
  EXPECT_LT(UnderAutocast().copies.at(1).begin, 140);
}

// A view of x has the node that is given the gradient, and x's own node is given what came back.
TEST_F(TwoConversionsTest, WhatCameBackIsNotConvertedAgain) {
  WidenThenMultiply();
  const uint32_t before = AddNode("FirstBackward0", linear_, 170);
  AddOp("FirstBackward0", before, {171, 173}, {gradient_}, kNone);
  EXPECT_EQ(UnderAutocast().copies.size(), 2u);
}

TEST_F(TwoConversionsTest, WhatIsNarrowedForAnOperatorThatPromotesHasAGradientThatIsLowBetween) {
  NarrowThenScale();
  const Gradients gradients = UnderAutocast();
  ASSERT_THAT(gradients.Sizes(), ElementsAre(512u, 256u, 512u));
  const StepBlock &low = gradients.copies[0], &back = gradients.copies[1];
  EXPECT_LT(low.begin, back.begin);
  EXPECT_LT(back.begin, kNodeOfX);
  EXPECT_EQ(back.end, 190);
}

// The node that is given the copy has to do with that, whether or not a variable has what was converted.
TEST_F(TwoConversionsTest, ACopyWithoutANameIsNoneTheLess) {
  NarrowThenScale();
  const Gradients named = UnderAutocast();
  for (Op& op : step_.ops) op.taken = op.begin == 30;
  const Gradients taken = UnderAutocast();
  ASSERT_EQ(taken.Sizes(), named.Sizes());
  EXPECT_EQ(taken.itself.end, named.itself.end);
  for (size_t i = 0; i < named.copies.size(); ++i) {
    EXPECT_EQ(taken.copies[i].begin, named.copies[i].begin);
    EXPECT_EQ(taken.copies[i].end, named.copies[i].end);
  }
}

TEST_F(TwoConversionsTest, WhatStaysFloatForItHasNone) {
  NarrowThenScale(false);
  const Gradients gradients = UnderAutocast();
  EXPECT_THAT(gradients.Sizes(), ElementsAre(512u));
}

// attention(query, norm(x).to(type)): autocast converts the query alone, and the other one's node is the
// program's, which runs when those that were made behind it have run.
TEST_F(TwoConversionsTest, WhatTheProgramConvertedIsNotGivenBackByAutocastWhateverThatConvertsBeside) {
  const uint32_t query = AddBlock(6, 190), square = AddBlock(26, 190);
  AddOp("aten::embedding", kNone, {5, 7}, {weight_}, query);
  To("torch.float32", 20, hidden_);
  const uint32_t squares = AddOp("aten::mul", kNone, {25, 27}, {hidden_, hidden_}, square);
  To("torch.bfloat16", 30, square);
  const uint32_t call = AddOp("aten::scaled_dot_product_attention", kNone, {40, 42}, {query, square}, out_);
  Differentiate("AttentionBackward0", call, squares);
  step_.nodes.push_back({Text("younger"), squares, 35, 122, 130});
  const Gradients gradients = UnderAutocast();
  ASSERT_THAT(gradients.Sizes(), ElementsAre(256u, 512u));
  EXPECT_GT(gradients.copies[0].begin, 130);
  EXPECT_LT(gradients.copies[0].begin, kNodeOfX);
}

TEST_F(TwoConversionsTest, BehindAnAdditionWhatWasConvertedBackHasAGradientThatIsLowBetween) {
  AddNormed();
  const Gradients gradients = UnderAutocast();
  ASSERT_THAT(gradients.Sizes(), ElementsAre(512u, 256u, 512u));
  const StepBlock &low = gradients.copies[0], &back = gradients.copies[1];
  EXPECT_GT(low.begin, 113);
  EXPECT_LT(low.begin, back.begin);
  EXPECT_LT(back.begin, 120);
  EXPECT_LT(low.end, kNodeOfX);
  EXPECT_LT(back.end, kNodeOfX);
  EXPECT_EQ(gradients.itself.end, 190) << "what the residual's node is given";
}

// Gemma4 Unified's layers scale their sums, so that 16 bits are what its gradient was made in.
TEST_F(TwoConversionsTest, WhatIsConvertedForOneEdgeOfAnAdditionIsAsItIsForTheOther) {
  AddNormedInLow();
  const Gradients gradients = UnderAutocast();
  ASSERT_THAT(gradients.Sizes(), ElementsAre(256u, 512u));
  EXPECT_LT(gradients.copies[0].begin, 121);
  EXPECT_LT(gradients.copies[0].end, kNodeOfX);
  EXPECT_EQ(gradients.itself.end, 190) << "what the other edge's node is given";
}

TEST_F(TwoConversionsTest, BehindAnAdditionWhatStaysFloatHasNone) {
  AddNormed(false);
  EXPECT_TRUE(UnderAutocast().copies.empty());
}

}  // namespace
}  // namespace vramscope::whatif
