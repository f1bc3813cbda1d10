// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/lora.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/parameters.h"
#include "profiler/whatif/testing/loop.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// The loop's linear layer as if its input were [2, 4, 64], with these distances.
class GapsTest : public testing::Test {
 protected:
  GapsTest() : step_(loop_.Read()), linears_(LinearCalls(step_, "")) {}

  Step With(const std::vector<int64_t>& strides) {
    LinearCall& linear = linears_.at(0);
    linear.given.shape = linear.made.shape = linear.made.strides = Shape({2, 4, 64});
    linear.given.strides = Shape(strides);
    linear.flat = false;
    return WithLora(step_, linears_, {}, 2);
  }
  uint32_t Shape(const std::vector<int64_t>& dims) {
    step_.shapes.push_back({static_cast<uint32_t>(step_.dims.size()), 3, true});
    step_.dims.insert(step_.dims.end(), dims.begin(), dims.end());
    return static_cast<uint32_t>(step_.shapes.size() - 1);
  }
  // Blocks that were put in, of the batch's size, which a node keeps.
  [[nodiscard]] std::vector<StepBlock> KeptCopies(const Step& changed) const {
    std::vector<StepBlock> copies;
    for (uint32_t i = 0; i < changed.blocks.size(); ++i) {
      const StepBlock& block = changed.blocks[i];
      const bool kept = std::any_of(changed.saved.begin(), changed.saved.end(),
                                    [&](const Saved& saved) { return saved.block == i; });
      if (block.id == kNone && kept && block.requested == kBatchBytes) copies.push_back(block);
    }
    return copies;
  }

  Loop loop_;
  Step step_;
  std::vector<LinearCall> linears_;
};

// x.flatten(2).transpose(1, 2), as in networks of convolutions and attention.
TEST_F(GapsTest, AnInputThatLiesWithGapsIsCopiedForItsProductAndTheCopyKept) {
  const Step changed = With({256, 1, 4});
  const std::vector<StepBlock> copies = KeptCopies(changed);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_GT(copies[0].begin, kBefore);
  EXPECT_GT(copies[0].end, changed.backward.front().begin) << "until the gradient of the matrix is computed";
  EXPECT_LT(copies[0].end, changed.backward.front().end);
}

// def forward(self, x): return self.base(x) + self.up(self.down(x))
TEST_F(GapsTest, TheAdapterHasItsArgumentUntilItReturns) {
  const uint32_t given = linears_.at(0).given.block;
  const Step changed = With({256, 64, 1});
  const auto sum = std::find_if(changed.ops.begin(), changed.ops.end(), [&](const Op& op) {
    return changed.NameOf(op) == "aten::add" && op.node == kNone;
  });
  ASSERT_NE(sum, changed.ops.end());
  const auto named = std::find_if(changed.named.begin(), changed.named.end(),
                                  [&](const Named& one) { return one.block == given; });
  ASSERT_NE(named, changed.named.end());
  EXPECT_GT(named->until, sum->end);
  EXPECT_FALSE(named->all) << "others may have it too";
}

TEST_F(GapsTest, ElseItIsKeptItself) { EXPECT_EQ(KeptCopies(With({256, 64, 1})).size(), 0u); }

TEST_F(GapsTest, ALayerThatTheStepDoesNotCallHasItsMatricesAlone) {
  LinearCall uncalled = linears_.at(0);
  uncalled.call = uncalled.matmul = uncalled.input = uncalled.output = kNone;
  uncalled.in = 128, uncalled.given.dtype = linears_.at(0).given.dtype;
  const Step one = WithLora(step_, linears_, {}, 2), two = WithLora(step_, linears_, {uncalled}, 2);
  ASSERT_EQ(two.blocks.size(), one.blocks.size() + 2);
  const auto bytes = [](const Step& step) {
    uint64_t sum = 0;
    for (const StepBlock& block : step.blocks) sum += block.requested;
    return sum;
  };
  EXPECT_EQ(bytes(two) - bytes(one), 2u * (128 + static_cast<uint64_t>(uncalled.out)) * 4);
  EXPECT_EQ(two.trained.size(), one.trained.size())
      << "they get no gradient, and the optimizer steps over them";
}

TEST_F(GapsTest, AdaptersGoToTheDeviceBehindTheirLayer) {
  const uint32_t weight = linears_.at(0).weight;
  const Step changed = With({256, 64, 1});
  std::vector<Position> at;
  for (const StepBlock& block : changed.blocks) {
    if (block.category == classify::Category::kParameter && block.id == kNone && block.copy_of == kNone)
      at.push_back(block.set_up);
  }
  ASSERT_EQ(at.size(), 2u);
  EXPECT_LT(SetUpAt(step_, weight), at[0]);
  EXPECT_EQ(at[0], at[1]);
  EXPECT_LT(at[1], SetUpAt(step_, weight) + 1) << "ahead of the next parameter";
}

}  // namespace
}  // namespace vramscope::whatif
