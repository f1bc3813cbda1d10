// SPDX-License-Identifier: Apache-2.0
// When what the engine converts is given up.
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/testing/loop.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// When what a node was given from 111 to 113 goes, which the node holds until 114; a conversion at 113.1 is
// another node.
class GivenUpTest : public testing::Test, protected WrittenStep {
 protected:
  [[nodiscard]] Position End(Position given_up, Position used_again = kBefore) {
    const uint32_t x = AddBlock(5, 190), gradient = AddBlock(105, 190);
    Work(10, Node(150), {x, x});
    step_.saved.clear();
    Operand operand = step_.operands[0];
    operand.block = gradient;
    Versions versions(step_, kFloatType);
    versions.Decide(gradient, kBfloat16Type);
    versions.GivenToNode(operand, 113, 114);
    if (used_again > kBefore) versions.Used(gradient, used_again);
    versions.Cast(gradient, kFloatType, 113.1, kNone, operand);
    versions.GivenUp(gradient, given_up);
    versions.Used(gradient, 170);  // the copy
    return std::move(versions).Finish({}).blocks[gradient].end;
  }
};

TEST_F(GivenUpTest, WhatIsConvertedGoesWithItsConversionNotBehindTheSum) {
  EXPECT_NEAR(End(113.1), 113.1, 1e-3);
}

TEST_F(GivenUpTest, WhatItWasUsedForElseHoldsItLonger) { EXPECT_NEAR(End(113.1, 130), 130, 1e-3); }

TEST_F(GivenUpTest, AConversionBeforeTheNodesOperatorEndsIsNone) { EXPECT_NEAR(End(111), 114, 1e-3); }

}  // namespace
}  // namespace vramscope::whatif
