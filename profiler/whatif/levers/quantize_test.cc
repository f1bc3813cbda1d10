// SPDX-License-Identifier: Apache-2.0
// What becomes of a linear layer whose weight is stored as codes, in a step put together by hand.
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/testing/written_operators.h"
#include "profiler/whatif/training/linears.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint64_t kView = 7;  // a tensor

//   layer from 8 to 14    view, addmm           backward    addmm ─ mm ─► of_x ─ view ─ the engine adds
//   another
class QuantizeTest : public testing::Test, protected WrittenOperators {
 protected:
  QuantizeTest() {
    step_.shapes.insert(step_.shapes.end(), {{1, 2, true}, {3, 2, true}});
    step_.dims.insert(step_.dims.end(), {2, 64, 64, 64});
    Module("linear", 8, 14);
    step_.first.begin = 10;
    for (const model::EventIndex made : {3, 4}) {
      model::Block block;
      block.alloc_event = made;
      run_.blocks.push_back(block);
    }
    weight_ = AddBlock(kBefore, kForever), bias_ = AddBlock(kBefore, kForever);
    step_.blocks[weight_].name = "linear.weight", step_.blocks[weight_].requested = 64 * 64 * 4;
    step_.blocks[weight_].id = 0, step_.blocks[bias_].id = 1;
    x_ = AddBlock(5, 190);
    const uint32_t gradient = AddBlock(110, 122), other = AddBlock(112, 132);
    of_x_ = AddBlock(121, 132), sum_ = AddBlock(130, 190);
    const uint32_t view = AddOp("aten::view", kNone, {8.5, 9}, {x_}, x_);
    const uint32_t forward = AddOp("aten::addmm", kNone, {10, 12}, {bias_, x_, weight_}, AddBlock(11, 190));
    for (uint16_t i = 0; i < 3; ++i) At(forward, i).argument = i;
    for (const uint32_t op : {view, forward})
      for (uint32_t i = 0; i < step_.ops[op].input_count + 1; ++i) At(op, i).shape = 2;
    At(forward, 2).shape = 3;
    const uint32_t of_view = AddNode("ViewBackward0", view, 126),
                   product = AddNode("AddmmBackward0", forward, 118);
    forward_ = forward, product_ = AddOp("aten::mm", product, {120, 122}, {gradient, weight_}, of_x_);
    At(AddOp("aten::view", of_view, {127, 128}, {of_x_}, of_x_), 1).tensor = kView;
    addition_ = AddOp("aten::add", of_view, {129, 131}, {of_x_, other}, sum_);
    At(addition_, 0).tensor = kView;
  }

  Operand& At(uint32_t op, uint32_t operand) { return step_.operands[step_.ops[op].first_input + operand]; }
  [[nodiscard]] whatif::Step With(const char* value) const {
    const auto changed = FindLever("quantize")->Rewrite(step_, value);
    EXPECT_TRUE(changed.has_value() && changed->ok());
    return changed->value();
  }

  uint32_t weight_ = 0, bias_ = 0, x_ = 0, of_x_ = 0, sum_ = 0, addition_ = 0, forward_ = 0, product_ = 0;
};

// Its function returns a tensor of its own, no view.
TEST_F(QuantizeTest, TheNextGradientOfWhatItIsGivenIsAddedInPlace) {
  const whatif::Step changed = With("nf4:linear");
  EXPECT_EQ(changed.NameOf(changed.ops[addition_]), "aten::add_");
  EXPECT_EQ(changed.blocks[sum_].requested, 0u);
  EXPECT_EQ(changed.blocks[of_x_].end, 190);
}

TEST_F(QuantizeTest, BehindAViewThatIsNotTheLayersItIsNot) {
  step_.nodes[step_.ops[addition_].node].made = 6;
  const whatif::Step changed = With("nf4:linear");
  EXPECT_EQ(changed.NameOf(changed.ops[addition_]), "aten::add");
  EXPECT_EQ(changed.blocks[of_x_].end, 132);
}

// Keys' gradients, which are transposed: what a linear layer copies first is multiplied sample by sample.
TEST_F(QuantizeTest, AGradientThatIsNoMatrixIsMultipliedAsItIs) {
  step_.dims.insert(step_.dims.end(), {1, 2, 64});
  step_.shapes.push_back({static_cast<uint32_t>(step_.dims.size()) - 3, 3, true});
  const uint32_t given = AddBlock(108, 111), copy = step_.operands[step_.ops[product_].first_input].block;
  const uint32_t clone =
      AddOp("aten::clone", AddNode("UnsafeViewBackward0", forward_, 112), {109, 112}, {given}, copy);
  At(clone, 0).shape = static_cast<uint32_t>(step_.shapes.size()) - 1;
  whatif::Step changed = With("nf4:linear");
  EXPECT_EQ(changed.blocks[copy].requested, 0u);
  EXPECT_GT(changed.blocks[given].end, 122) << "until the product is made";

  step_.blocks[given].requested = step_.blocks[copy].requested / 2;
  changed = With("nf4:linear");
  EXPECT_EQ(changed.blocks[copy].requested, step_.blocks[copy].requested) << "an expanded one is copied";
  EXPECT_EQ(changed.blocks[given].end, 111);
}

TEST_F(QuantizeTest, CodesAndScalesGoToTheDeviceBehindTheBias) {
  const whatif::Step changed = With("nf4:linear");
  std::vector<Position> at = {changed.blocks[weight_].set_up};
  for (size_t i = step_.blocks.size(); i < changed.blocks.size(); ++i)
    if (changed.blocks[i].begin == kBefore) at.push_back(changed.blocks[i].set_up);
  ASSERT_EQ(at.size(), 3u) << "codes, scales, what pairs stand for";
  EXPECT_TRUE(std::is_sorted(at.begin(), at.end()));
  EXPECT_GT(at.front(), 4 - 10 - 1);
  EXPECT_LT(at.back(), 4 - 10 - 0.5) << "before what LoRA puts there";
}

// LUKE's layers for entities, of words alone: told by their size, which is that of a layer that runs.
TEST_F(QuantizeTest, SoDoThoseOfALayerThatTheStepDoesNotCall) {
  const auto uncalled = [&](const char* name, uint64_t bytes) {
    const uint32_t block = AddBlock(kBefore, kForever);
    step_.blocks[block].name = name, step_.blocks[block].requested = bytes, step_.blocks[block].id = 0;
    step_.blocks[block].category = classify::Category::kParameter;
    return block;
  };
  step_.blocks[bias_].name = "linear.bias", step_.blocks[bias_].requested = 512;
  step_.blocks[bias_].category = classify::Category::kParameter;
  const uint64_t bytes = step_.blocks[weight_].requested;
  const uint32_t idle = uncalled("linear.idle.weight", bytes), of_bias = uncalled("linear.idle.bias", 512);
  const uint32_t larger = uncalled("linear.larger.weight", 2 * bytes);
  const uint32_t unbiased = uncalled("linear.unbiased.weight", bytes);
  const uint32_t elsewhere = uncalled("other.weight", bytes);
  uncalled("other.bias", 512);
  const whatif::Step changed = With("int8:linear");
  EXPECT_EQ(changed.blocks[idle].requested, bytes / 4);
  EXPECT_EQ(changed.blocks[of_bias].requested, 512u);
  for (const uint32_t other : {larger, unbiased, elsewhere})
    EXPECT_EQ(changed.blocks[other].requested, step_.blocks[other].requested) << step_.blocks[other].name;
  AddOp("aten::mul", kNone, {40, 42}, {idle}, AddBlock(41, 190));
  EXPECT_EQ(With("int8:linear").blocks[idle].requested, bytes)
      << "of what is used otherwise nothing is known";
}

// Positions that the program keeps from its first step on.
TEST_F(QuantizeTest, ALayerMayBeGivenWhatWasThereBeforeTheStep) {
  step_.blocks[x_].begin = kBefore;
  const std::vector<LinearCall> linears = LinearCalls(step_, "linear");
  ASSERT_EQ(linears.size(), 1u);
  EXPECT_EQ(linears[0].given.block, x_);
}

}  // namespace
}  // namespace vramscope::whatif
