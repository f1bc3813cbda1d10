// SPDX-License-Identifier: Apache-2.0
// Two blocks that are called one after the other with a cache, in which each leaves something for the next
// piece: the oracle is _replace_grad_tensors of PyTorch 2.15.
#include <gtest/gtest.h>

#include "profiler/whatif/shard/shard.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class ShardListsTest : public testing::Test, protected WrittenOperators {
 protected:
  ShardListsTest() {
    Module("decoder", 1, 90);
    Module("blocks.0", 10, 30, 0);
    Module("blocks.0.norm", 20, 25, 1);
    Module("blocks.1", 40, 60, 0);
    before_ = AddBlock(5, kForever), wrote_ = AddBlock(15, kForever), out_ = AddBlock(26, kForever);
    x_ = Text("x"), cache_ = Text("cache"), inner_ = Text("feat_cache");
    AddOp("aten::mul", kNone, {12, 13}, {before_}, kNone);
    RequireGradient(true);
    Hold(kFirst, cache_, {before_});
    Hold(kWithin, inner_, {before_, wrote_});
    Hold(kSecond, cache_, {before_, wrote_});
    Hold(kSecond, x_, {out_});
  }

  void Hold(uint32_t call, uint32_t name, const std::vector<uint32_t>& blocks) {
    for (const uint32_t block : blocks) step_.held.push_back({block, call, name});
  }
  void Forget(uint32_t call, uint32_t block) {
    std::erase_if(step_.held, [&](const Held& held) { return held.call == call && held.block == block; });
  }
  void RequireGradient(bool does) {
    step_.operands[0].flags = does ? static_cast<uint8_t>(trace::kTensorRequiresGrad) : uint8_t{0};
  }
  [[nodiscard]] std::string Why() const { return WhyListsAreLost(step_, {kFirst, kSecond}); }

  static constexpr uint32_t kFirst = 1, kWithin = 2, kSecond = 3;
  uint32_t before_ = 0, wrote_ = 0, out_ = 0, x_ = 0, cache_ = 0, inner_ = 0;
};

TEST_F(ShardListsTest, WhatAModuleWritesIntoAListThatItIsGivenIsLost) {
  EXPECT_TRUE(Why().starts_with("blocks.0 writes into cache, which it is given: fully_shard() ")) << Why();
}

TEST_F(ShardListsTest, AListWithoutTensorsThatRequireGradientsIsHandedOnItself) {
  RequireGradient(false);
  EXPECT_EQ(Why(), "");
}

TEST_F(ShardListsTest, AModuleThatReturnsItsListLosesNothing) {
  Forget(kSecond, out_);
  EXPECT_EQ(Why(), "");
}

TEST_F(ShardListsTest, WhatTheCallerPutsIntoItsListIsThere) {
  Forget(kWithin, wrote_);
  EXPECT_EQ(Why(), "") << "features.append(layer(features))";
}

TEST_F(ShardListsTest, AVariableThatGetsAnotherTensorIsNoList) {
  Forget(kSecond, before_);
  EXPECT_EQ(Why(), "");
}

}  // namespace
}  // namespace vramscope::whatif
