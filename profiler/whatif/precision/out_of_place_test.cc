// SPDX-License-Identifier: Apache-2.0
// A linear layer on input with gaps, as WavLM's attention has them. Oracle: PyTorch's own
// create_selective_checkpoint_contexts, under which the recorded addition was aten::add.
#include "profiler/whatif/precision/out_of_place.h"

#include <gtest/gtest.h>

#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

//   layer from 2 to 60    10 linear { 12 mm ─► product   16 add_ }  20     30 work, which keeps the product
class OutOfPlaceTest : public testing::Test, protected WrittenStep {
 protected:
  OutOfPlaceTest() {
    Module("layer", 2, 60);
    product_ = AddBlock(12.5, 122);
    const uint32_t linear = Call("aten::linear", kNone, 10, 20);
    Add(product_, true);
    Call("aten::mm", linear, 12, 14);
    Add(product_, true);
    Call("aten::add_", linear, 16, 18);
    Add(product_, false), Add(product_, true);
    Work(30, Node(120), {product_, AddBlock(30.5, 90)});
    step_.named.push_back({product_, 40, 40});
  }

  void Add(uint32_t block, bool result) {
    Op& op = step_.ops.back();
    Operand operand;
    operand.op = static_cast<uint32_t>(step_.ops.size() - 1), operand.block = block;
    ++(result ? op.output_count : op.input_count);
    if (!result) ++op.first_output;
    step_.operands.push_back(operand);
  }

  uint32_t product_ = 0;
};

TEST_F(OutOfPlaceTest, TheSumIsAnotherBlockThanTheProduct) {
  const auto changed = WithBiasesApart(step_, {0});
  ASSERT_TRUE(changed.has_value());
  const auto sum = static_cast<uint32_t>(step_.blocks.size());
  ASSERT_EQ(changed->blocks.size(), step_.blocks.size() + 1);
  EXPECT_NEAR(changed->blocks[product_].end, 20, 0.01);
  EXPECT_NEAR(changed->blocks[sum].begin, 16, 0.01);
  EXPECT_EQ(changed->blocks[sum].end, 122);
  EXPECT_EQ(changed->saved[0].block, sum);
  EXPECT_EQ(changed->named[0].block, sum);
  const std::vector<uint32_t> seen = {sum, product_, product_, sum, sum};  // linear, mm, add_ twice, work
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(changed->operands[i].block, seen[i]) << i;
}

TEST_F(OutOfPlaceTest, ElsewhereItIsAddedInPlace) {
  step_.modules[0].end = 9;
  EXPECT_FALSE(WithBiasesApart(step_, {0}).has_value()) << "outside of these calls";
  step_.modules[0].end = 60;
  step_.ops[0].name = Text("aten::addmm");
  EXPECT_FALSE(WithBiasesApart(step_, {0}).has_value()) << "no linear layer";
}

}  // namespace
}  // namespace vramscope::whatif
