// SPDX-License-Identifier: Apache-2.0
// ids.float() in a model that was converted to 16 bits, and x.to(device): steps put together by hand.
#include <gtest/gtest.h>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

class OfIntegersTest : public testing::Test, protected WrittenStep {
 protected:
  [[nodiscard]] uint64_t Bytes(Asks asks, Window module = {2, 70}, Window another = {}) {
    constexpr uint8_t kInt64 = 4;
    Module("model", module.begin, module.end);
    if (another.end != 0) Module("judge", another.begin, another.end);
    Work(10, Node(150), {AddBlock(5, 160), AddBlock(11, 160)});
    step_.saved.clear();
    step_.ops[0].name = Text("aten::to"), step_.ops[0].dtype = Text("torch.float32");
    step_.ops[0].asks = asks;
    step_.blocks[1].op = 0;
    step_.operands[0].dtype = kInt64, step_.operands[1].dtype = kFloatType;
    Call("aten::mul", model::kNone, 30, 35);
    step_.ops[1].dtype = Text("torch.int64");
    step_.ops[1].first_input = static_cast<uint32_t>(step_.operands.size()), step_.ops[1].input_count = 1;
    step_.operands.push_back(step_.operands[1]);
    step_.operands.back().op = 1;
    return AllInLow(step_, kBfloat16Type).blocks[1].requested;
  }
};

// positions.to(device, copy=True), which names the type and the layout that they have.
class MovedTest : public testing::Test, protected WrittenStep {
 protected:
  // Of what a product of matrices made under autocast.
  [[nodiscard]] uint64_t Bytes(bool moves) {
    Module("model", 2, 70);
    const uint32_t x = AddBlock(5, 160), product = AddBlock(11, 160), moved = AddBlock(25, 160);
    Work(10, Node(150), {x, product});
    step_.ops[0].name = Text("aten::mm"), step_.blocks[product].op = 0;
    const uint32_t around = Call("aten::to", model::kNone, 20, 30);
    step_.ops[around].moves = moves, step_.ops[around].dtype = Text("torch.float32");
    Call("aten::_to_copy", around, 22, 28);
    for (const uint32_t op : {around, around + 1}) {
      step_.ops[op].dtype = step_.ops[around].dtype;
      step_.ops[op].first_input = static_cast<uint32_t>(step_.operands.size());
      step_.ops[op].first_output = step_.ops[op].first_input + 1;
      step_.ops[op].input_count = step_.ops[op].output_count = 1;
      for (const uint32_t block : {product, moved}) {
        Operand& operand = step_.operands.emplace_back();
        operand.op = op, operand.block = block;
      }
      step_.operands.back().flags = trace::kTensorIsOutput;
    }
    step_.blocks[moved].op = around + 1;
    step_.saved.clear();
    for (Operand& operand : step_.operands) operand.dtype = kFloatType;
    return UnderAutocast(step_, kBfloat16Type).blocks[moved].requested;
  }
};

// (labels == classes).to(made.dtype), under autocast, where that was made by a product of matrices.
class AskedOfAnotherTest : public testing::Test, protected WrittenStep {
 protected:
  [[nodiscard]] uint64_t Bytes(bool told) {
    constexpr uint8_t kBool = 11;
    Module("model", 2, 70);
    const uint32_t x = AddBlock(5, 160), made = AddBlock(11, 160);
    Work(10, Node(150), {x, made});
    step_.ops[0].name = Text("aten::mm"), step_.blocks[made].op = 0;
    const uint32_t same = AddBlock(72, 160), wanted = AddBlock(82, 160);
    step_.saved.clear();
    for (Operand& operand : step_.operands) operand.dtype = kFloatType;
    const uint32_t to = Call("aten::to", model::kNone, 80, 90);
    Op& op = step_.ops[to];
    op.dtype = Text("torch.float32"), op.asks = Asks::kTensor, op.asked = told ? made : model::kNone;
    op.first_input = static_cast<uint32_t>(step_.operands.size()), op.first_output = op.first_input + 1;
    op.input_count = op.output_count = 1;
    for (const uint32_t block : {same, wanted}) {
      Operand& operand = step_.operands.emplace_back();
      operand.op = to, operand.block = block, operand.dtype = block == same ? kBool : kFloatType;
    }
    step_.operands.back().flags = trace::kTensorIsOutput;
    step_.blocks[wanted].op = to;
    return UnderAutocast(step_, kBfloat16Type).blocks[wanted].requested;
  }
};

TEST_F(AskedOfAnotherTest, BoolsGetTheTypeOfTheTensorThatIsAsked) {
  EXPECT_EQ(Bytes(true), 256u);
  EXPECT_EQ(Bytes(false), 512u);
}

TEST_F(MovedTest, ATensorKeepsItsType) { EXPECT_EQ(Bytes(true), 256u); }

TEST_F(MovedTest, UnlessItIsConvertedOnTheWay) { EXPECT_EQ(Bytes(false), 512u); }

TEST_F(OfIntegersTest, AreFloat32WhereAModuleNamesThat) { EXPECT_EQ(Bytes(Asks::kType), 512u); }

TEST_F(OfIntegersTest, HaveTheTypeOfTheModelWhereNothingTellsThat) { EXPECT_EQ(Bytes(Asks::kNotTold), 256u); }

TEST_F(OfIntegersTest, HaveItTooWhereTheLoopNamesFloat32OutsideOfAllModules) {
  EXPECT_EQ(Bytes(Asks::kType, {20, 70}), 256u);
}

// (labels == labels.T).float()
TEST_F(OfIntegersTest, ButWhatALossNamesBehindTheModelIsFloat32) {
  EXPECT_EQ(Bytes(Asks::kType, {2, 8}), 512u);
}

TEST_F(OfIntegersTest, UnlessNothingTellsThat) { EXPECT_EQ(Bytes(Asks::kNotTold, {2, 8}), 256u); }

TEST_F(OfIntegersTest, OrAnotherModuleIsGivenIt) { EXPECT_EQ(Bytes(Asks::kType, {2, 8}, {20, 40}), 256u); }

}  // namespace
}  // namespace vramscope::whatif
