// SPDX-License-Identifier: Apache-2.0
// Tensors without elements, in steps put together by hand: a mask chose none of the samples for a layer, as
// for an expert or an adapter that nobody asks for. No block holds them, but the layer's gradient is there.
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/testing/written_operators.h"
#include "profiler/whatif/training/freeze.h"
#include "profiler/whatif/training/linears.h"
#include "profiler/whatif/training/lora.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint64_t kEmpty = 7;  // a tensor
constexpr uint64_t kWeight = 128 * 64 * 4;

//   table ─ index ─► empty ─ linear ─► empty      backward: of the weight, zeros
class EmptyTensorsTest : public testing::Test, protected WrittenOperators {
 protected:
  EmptyTensorsTest() {
    step_.shapes.insert(step_.shapes.end(), {{1, 2, true}, {3, 2, true}, {5, 2, true}});
    step_.dims.insert(step_.dims.end(), {0, 128, 128, 64, 0, 64});
    Module("linear", 8, 14);
    step_.optimizer.push_back({200, 290});
    table_ = AddBlock(kBefore, kForever), weight_ = AddBlock(kBefore, kForever);
    gradient_ = AddBlock(122.5, 300);
    step_.blocks[table_].name = "table", step_.blocks[weight_].name = "linear.weight";
    step_.blocks[weight_].requested = kWeight, step_.blocks[gradient_].requested = kWeight;
    step_.trained = {table_, weight_};
    const uint32_t index = AddOp("aten::index", kNone, {5, 7}, {table_, kNone}, kNone);
    (void)AddNode("IndexBackward0", index, 140);
    (void)At(index, 0);
    const uint32_t forward = AddOp("aten::mm", kNone, {10, 12}, {kNone, weight_}, kNone);
    EndEmpty(index, 2), EndEmpty(forward, 4);
    Empty(forward, 0, 2), At(forward, 1).shape = 3, At(forward, 1).argument = 1;
    const uint32_t node = AddNode("MmBackward0", forward, 119);
    const uint32_t work = AddOp("MmBackward0", node, {120, 126}, {kNone}, kNone);
    Empty(work, 0, 4);
    for (const uint32_t block : {gradient_, kNone}) {
      const Window time = block == kNone ? Window{124, 125} : Window{122, 123};
      const uint32_t product =
          AddOp("aten::mm", node, time, {kNone, block == kNone ? weight_ : kNone}, block);
      step_.ops[product].parent = work;
      Empty(product, 0, 4);
      if (block != kNone) Empty(product, 1, 2);
    }
    OrderOpEnds(step_);
  }

  Operand& At(uint32_t op, uint32_t operand) {
    Operand& one = step_.operands[step_.ops[op].first_input + operand];
    one.flags |= static_cast<uint8_t>(trace::kTensorRequiresGrad);
    return one;
  }
  void Empty(uint32_t op, uint32_t operand, uint32_t shape) {
    At(op, operand).shape = shape;
    At(op, operand).tensor = kEmpty;
  }
  // The operator that was added last returns an empty tensor.
  void EndEmpty(uint32_t op, uint32_t shape) {
    Operand result;
    result.op = op, result.dtype = kFloatType, result.shape = shape, result.tensor = kEmpty;
    result.flags = trace::kTensorIsOutput | trace::kTensorRequiresGrad;
    step_.ops[op].first_output = static_cast<uint32_t>(step_.operands.size());
    step_.ops[op].output_count = 1;
    step_.operands.push_back(result);
  }
  [[nodiscard]] static std::vector<uint64_t> Bytes(const whatif::Step& changed, classify::Category category) {
    std::vector<uint64_t> bytes;
    for (const StepBlock& block : changed.blocks)
      if (block.category == category && block.requested != 0) bytes.push_back(block.requested);
    return bytes;
  }
  // With the layer frozen.
  [[nodiscard]] std::vector<uint64_t> RestoredInBackward(bool table_is_trained) const {
    const whatif::Step frozen =
        Frozen(step_, [&](uint32_t block) { return block == weight_ || !table_is_trained; });
    const auto changed = FindLever("quantize")->Rewrite(frozen, "int8:linear");
    EXPECT_TRUE(changed.has_value() && changed->ok());
    return Bytes(changed->value(), classify::Category::kTemporaryBackward);
  }

  uint32_t table_ = 0, weight_ = 0, gradient_ = 0;
};

TEST_F(EmptyTensorsTest, In16BitsTheGradientOfALayerThatWasGivenNoneHasTheTypeOfItsWeight) {
  for (Op& op : step_.ops)
    if (op.node == kNone) op.dtype = Text("");
  EXPECT_EQ(AllInLow(step_, kBfloat16Type).blocks[gradient_].requested, kWeight / 2);
}

TEST_F(EmptyTensorsTest, UnderAutocastItIsComputedIn16Bits) {
  EXPECT_EQ(UnderAutocast(step_, kBfloat16Type).blocks[gradient_].requested, kWeight / 2);
}

TEST_F(EmptyTensorsTest, MatricesBesideTheLayerGetGradientsToo) {
  constexpr uint32_t kRank = 2;
  const whatif::Step changed = WithLora(step_, LinearCalls(step_, "linear"), {}, kRank);
  EXPECT_EQ(Bytes(changed, classify::Category::kParameter),
            (std::vector<uint64_t>{kRank * 128 * 4, kRank * 64 * 4}));
  EXPECT_EQ(Bytes(changed, classify::Category::kGradient),
            (std::vector<uint64_t>{kRank * 64 * 4, kRank * 128 * 4}));
}

TEST_F(EmptyTensorsTest, ItsWeightIsRestoredForTheGradientOfNothing) {
  EXPECT_EQ(RestoredInBackward(true), std::vector<uint64_t>{kWeight});
}

TEST_F(EmptyTensorsTest, WhereNothingBeforeTheLayerIsTrainedThereIsNoGradient) {
  EXPECT_TRUE(RestoredInBackward(false).empty());
}

}  // namespace
}  // namespace vramscope::whatif
