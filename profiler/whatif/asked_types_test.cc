// SPDX-License-Identifier: Apache-2.0
// Which type x.to(x.dtype) asks for under autocast, of what a module computes: steps put together by hand.
#include "profiler/whatif/asked_types.h"

#include <gtest/gtest.h>

#include "profiler/whatif/holders.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

//   sum = linear(hidden) + residual
//   norm(sum): x = weight * (sum * sum); x.to(...), which asks for the type of what x was computed from
class AskedTypesTest : public testing::Test, protected WrittenOperators {
 protected:
  AskedTypesTest() {
    weight_ = AddBlock(kBefore, kForever);
    step_.blocks[weight_].category = classify::Category::kParameter;
    Module("net", 0, 90);
    hidden_ = AddBlock(5, 90), sum_ = AddBlock(16, 90);
    const uint32_t product = AddBlock(11, 90), residual = AddBlock(12.5, 90);
    AddOp("aten::linear", kNone, {10, 12}, {hidden_, weight_}, product);
    AddOp("aten::add", kNone, {15, 17}, {product, residual}, sum_);
  }

  void InANorm() { Module("net.norm", 30, 60, 0); }
  // Where hidden is in 16 bits, and the sum of that type; 0: of one that is not known.
  uint8_t Asked(uint8_t of_sum) {
    const uint32_t square = AddBlock(41, 90), scaled = AddBlock(46, 90);
    AddOp("aten::mul", kNone, {40, 42}, {sum_, sum_}, square);
    AddOp("aten::mul", kNone, {45, 47}, {weight_, square}, scaled);
    const uint32_t to = AddOp("aten::to", kNone, {50, 52}, {scaled}, scaled);
    step_.ops[to].asks = Asks::kOrigin;
    Versions versions(step_, kFloatType);
    versions.Decide(hidden_, kBfloat16Type);
    if (of_sum != 0) versions.Decide(sum_, of_sum);
    return TypeAskedFor(step_, versions, CallsOf(step_), to);
  }

  uint32_t weight_ = 0, hidden_ = 0, sum_ = 0;
};

TEST_F(AskedTypesTest, WhatAModuleIsGivenCountsAndNotWhatThatWasComputedFrom) {
  InANorm();
  EXPECT_EQ(Asked(kFloatType), kFloatType);
}

TEST_F(AskedTypesTest, InTheModuleThatComputesItAllTheFactorOfTheProductCounts) {
  EXPECT_EQ(Asked(kFloatType), kBfloat16Type);
}

TEST_F(AskedTypesTest, TheTypeOfWhatIsGivenMayNotBeKnown) {
  InANorm();
  EXPECT_EQ(Asked(0), 0);
}

// The weight stands first, in float32.
TEST_F(AskedTypesTest, AParameterAmongTheOperandsIsPassedOver) {
  InANorm();
  EXPECT_EQ(Asked(kBfloat16Type), kBfloat16Type);
}

TEST_F(AskedTypesTest, SoIsABuffer) {
  InANorm();
  step_.blocks[weight_].category = classify::Category::kBuffer;
  EXPECT_EQ(Asked(kBfloat16Type), kBfloat16Type);
}

}  // namespace
}  // namespace vramscope::whatif
