// SPDX-License-Identifier: Apache-2.0
// What autocast converts first, and softmax that gives back the type of what it is given: steps put together
// by hand. tests/whatif_accuracy has real ones.
#include "profiler/whatif/precision/given_back.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using ::testing::ElementsAre;

// Operands of these arguments.
std::vector<size_t> OrderOf(const std::vector<uint16_t>& arguments) {
  std::vector<Operand> operands(arguments.size());
  for (size_t i = 0; i < operands.size(); ++i) operands[i].argument = arguments[i];
  return CastOrder(operands);
}

// linear(x, weight, bias)
TEST(CastOrderTest, TheLastArgumentIsConvertedFirst) {
  EXPECT_THAT(OrderOf({0, 1, 2}), ElementsAre(2, 1, 0));
}

// einsum(equation, [x, y]), and one that is given something before and behind its list.
TEST(CastOrderTest, WhatIsInAListIsConvertedInItsOrder) {
  EXPECT_THAT(OrderOf({1, 1}), ElementsAre(0, 1));
  EXPECT_THAT(OrderOf({0, 1, 1, 1, 2}), ElementsAre(4, 1, 2, 3, 0));
}

// kind = x.dtype; x = relu(...).to(torch.float32); softmax(x, dtype=kind), recorded in float32.
class GivesBackTest : public testing::Test, protected WrittenOperators {
 protected:
  GivesBackTest() {
    const uint32_t before = AddBlock(kBefore, kForever);
    x_ = AddBlock(11, 90), result_ = AddBlock(31, 90);
    AddOp("aten::relu", kNone, {10, 12}, {before}, x_);
    to_ = AddOp("aten::to", kNone, {20, 22}, {x_}, x_);
    step_.ops[to_].asks = Asks::kType;
    softmax_ = AddOp("aten::softmax", kNone, {30, 33}, {x_}, result_);
    step_.ops[softmax_].dtype = Text("torch.float32");
    const uint32_t inner = AddOp("aten::_softmax", kNone, {31, 32}, {x_}, result_);
    step_.ops[inner].parent = softmax_;
  }

  void Next(const char* name, uint32_t block) {
    const auto at = static_cast<Position>(10 * step_.ops.size());
    AddOp(name, kNone, {at, at + 2}, {block}, AddBlock(at + 1, 90));
  }
  [[nodiscard]] bool GivesBack(bool widened = true) const {
    Versions versions(step_, kFloatType);
    versions.Decide(x_, kFloatType);
    if (widened) versions.Widen(x_, to_);
    return whatif::GivesBack(step_, versions, softmax_);
  }

  uint32_t x_ = 0, result_ = 0, to_ = 0, softmax_ = 0;
};

TEST_F(GivesBackTest, WhatTheProgramWidenedBeforeIsGivenBack) {
  EXPECT_TRUE(GivesBack()) << "nothing is given its result";
  Next("aten::matmul", result_);
  EXPECT_TRUE(GivesBack());
}

// softmax(x.float(), dtype=torch.float32).to(y.dtype)
TEST_F(GivesBackTest, WhatIsConvertedNextIsNot) {
  for (const char* const converts : {"aten::to", "aten::type_as"}) {
    const size_t ops = step_.ops.size();
    Next("aten::relu", x_);  // stands between and has nothing to do with it
    Next(converts, result_);
    EXPECT_FALSE(GivesBack()) << converts;
    step_.ops.resize(ops);
  }
  Next("aten::to", x_);
  EXPECT_TRUE(GivesBack()) << "something else is converted";
  Next("aten::dropout", result_);
  Next("aten::to", result_);
  EXPECT_TRUE(GivesBack()) << "it is used before";
}

TEST_F(GivesBackTest, WithoutATypeOfItsOwnAutocastDecides) {
  step_.ops[softmax_].dtype = 0;
  EXPECT_FALSE(GivesBack());
}

TEST_F(GivesBackTest, WhatTheProgramDidNotWidenIsLeftToAutocast) { EXPECT_FALSE(GivesBack(false)); }

// x.to(y.dtype) may have widened nothing.
TEST_F(GivesBackTest, OnlyWhoNamesTheTypeIsKnownToWidenIt) {
  for (const Asks asks : {Asks::kNotTold, Asks::kTensor, Asks::kOrigin}) {
    step_.ops[to_].asks = asks;
    EXPECT_FALSE(GivesBack());
  }
}

TEST_F(GivesBackTest, AnotherOperatorThatIsToldATypeReturnsThat) {
  step_.ops[softmax_].name = Text("aten::sum");
  EXPECT_FALSE(GivesBack());
  step_.ops[softmax_].name = Text("aten::log_softmax");
  EXPECT_TRUE(GivesBack());
}

}  // namespace
}  // namespace vramscope::whatif
