// SPDX-License-Identifier: Apache-2.0
// Tensors of one block: qkv = linear(x); q, k = qkv.unbind(); r = q[..., :half]
#include "profiler/whatif/step/viewed_tensors.h"

#include <gtest/gtest.h>

#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint64_t kWhole = 7, kQuery = 17, kKey = 27, kHalf = 37;

class ViewedTensorsTest : public testing::Test, protected WrittenStep {
 protected:
  ViewedTensorsTest() : block_(AddBlock(1, 190)), node_(Node(110)) {}

  // An operator with a tensor of the block and one that comes out, of the block too.
  uint32_t View(const char* name, uint64_t given, uint64_t made) {
    Work(10 * static_cast<double>(step_.ops.size() + 1), node_, {block_, block_});
    Op& op = step_.ops.back();
    op.name = Text(name);
    step_.operands[op.first_input].tensor = given;
    step_.operands[op.first_output].tensor = made;
    return static_cast<uint32_t>(step_.ops.size() - 1);
  }
  [[nodiscard]] Operand Shown(uint64_t tensor) const {
    Operand operand;
    operand.block = block_;
    operand.tensor = tensor;
    return operand;
  }

  const uint32_t block_, node_;
};

TEST_F(ViewedTensorsTest, WhatIsSeenThroughTheConvertedOneIsNotOlder) {
  View("aten::linear", 0, kWhole);
  View("aten::unbind", kWhole, kQuery);
  View("aten::unbind", kWhole, kKey);
  const uint32_t to = View("aten::to", kQuery, kQuery);
  View("aten::slice", kQuery, kHalf);
  ViewedTensors views(step_);
  for (uint32_t op = 0; op < step_.ops.size(); ++op) views.End(op);
  const uint32_t converted = views.Of(Shown(kQuery));
  ASSERT_NE(converted, kNone);
  EXPECT_TRUE(views.IsSeenThrough(Shown(kHalf), converted));
  EXPECT_TRUE(views.IsSeenThrough(Shown(kQuery), converted));
  EXPECT_FALSE(views.IsSeenThrough(Shown(kKey), converted));
  EXPECT_FALSE(views.IsSeenThrough(Shown(kWhole), converted)) << "it is seen through that, not the other way";
  EXPECT_TRUE(views.IsOlder(Shown(kKey), to));
  EXPECT_FALSE(views.IsNewer(Shown(kKey), to));
  EXPECT_TRUE(views.IsNewer(Shown(kHalf), to));
  EXPECT_FALSE(views.IsSeenThrough(Shown(99), converted)) << "no operator made it";
  EXPECT_FALSE(views.IsOlder(Shown(99), to));
}

TEST_F(ViewedTensorsTest, AnAddressIsUsedAgain) {
  View("aten::linear", 0, kWhole);
  const uint32_t to = View("aten::to", kWhole, kWhole);
  View("aten::view", kWhole, kKey);
  ViewedTensors views(step_);
  for (uint32_t op = 0; op < 2; ++op) views.End(op);
  const uint32_t converted = views.Of(Shown(kWhole));
  views.End(2);
  EXPECT_TRUE(views.IsSeenThrough(Shown(kKey), converted));
  View("aten::linear", 0, kKey);
  views.End(3);
  EXPECT_FALSE(views.IsSeenThrough(Shown(kKey), converted));
  EXPECT_FALSE(views.IsOlder(Shown(kKey), to));
}

TEST_F(ViewedTensorsTest, BlocksThatNothingConvertsAreNotFollowed) {
  View("aten::linear", 0, kWhole);
  ViewedTensors views(step_);
  views.End(0);
  EXPECT_EQ(views.Of(Shown(kWhole)), kNone);
}

}  // namespace
}  // namespace vramscope::whatif
