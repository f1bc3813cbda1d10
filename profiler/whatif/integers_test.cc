// SPDX-License-Identifier: Apache-2.0
// ids.float() in a model that was converted to 16 bits: a step put together by hand.
#include <gtest/gtest.h>

#include "profiler/whatif/precision.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

class OfIntegersTest : public testing::Test, protected WrittenStep {
 protected:
  [[nodiscard]] uint64_t Bytes(Asks asks, Position module_begin = 2) {
    constexpr uint8_t kInt64 = 4;
    Module("model", module_begin, 70);
    Work(10, Node(150), {AddBlock(5, 160), AddBlock(11, 160)});
    step_.saved.clear();
    step_.ops[0].name = Text("aten::to"), step_.ops[0].dtype = Text("torch.float32");
    step_.ops[0].asks = asks;
    step_.blocks[1].op = 0;
    step_.operands[0].dtype = kInt64, step_.operands[1].dtype = kFloatType;
    return AllInLow(step_, kBfloat16Type).blocks[1].requested;
  }
};

TEST_F(OfIntegersTest, AreFloat32WhereAModuleNamesThat) { EXPECT_EQ(Bytes(Asks::kType), 512u); }

TEST_F(OfIntegersTest, HaveTheTypeOfTheModelWhereNothingTellsThat) { EXPECT_EQ(Bytes(Asks::kNotTold), 256u); }

TEST_F(OfIntegersTest, HaveItTooWhereTheLoopNamesFloat32OutsideOfAllModules) {
  EXPECT_EQ(Bytes(Asks::kType, 20), 256u);
}

}  // namespace
}  // namespace vramscope::whatif
