// SPDX-License-Identifier: Apache-2.0
// A block with two convolutions that keep something in a table: the oracle is torch.utils.checkpoint of
// PyTorch 2.15, which calls the block again with the table that it was given.
#include "profiler/whatif/checkpoints/left_behind.h"

#include <gtest/gtest.h>

#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

class LeftBehindTest : public testing::Test, protected WrittenOperators {
 protected:
  LeftBehindTest() {
    Module("encoder", 1, 90);
    Module("encoder.block", 10, 60, kAround);
    Module("encoder.block.first", 12, 20, kBlock);
    Module("encoder.block.second", 30, 50, kBlock);
    before_ = AddBlock(5, kForever), left_ = AddBlock(15, kForever);
  }

  [[nodiscard]] std::string Why(uint32_t block, bool in_given, uint32_t checkpointed = kBlock) {
    step_.held = {{block, kSecond, Text("cache"), false, in_given}};
    return WhyFindsWhatItLeft(step_, {checkpointed});
  }

  static constexpr uint32_t kAround = 0, kBlock = 1, kSecond = 3;
  uint32_t before_ = 0, left_ = 0;
};

TEST_F(LeftBehindTest, WhatABlockLeavesInATableThatItIsGivenIsFoundThereAgain) {
  EXPECT_TRUE(Why(left_, true).starts_with("encoder.block writes into cache, which it is given: "));
}

TEST_F(LeftBehindTest, WhatWasInTheTableBeforeIsFoundInForwardToo) { EXPECT_EQ(Why(before_, true), ""); }

TEST_F(LeftBehindTest, AListOfItsOwnIsMadeAgain) { EXPECT_EQ(Why(left_, false), ""); }

TEST_F(LeftBehindTest, AModuleAroundThatMadeTheTableMakesItAgain) {
  EXPECT_EQ(Why(left_, true, kAround), "");
}

}  // namespace
}  // namespace vramscope::whatif
