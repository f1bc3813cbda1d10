// SPDX-License-Identifier: Apache-2.0
// 32 tokens, which fill a piece: steps put together by hand. The oracle is Mamba 2 as Bamba computes it,
// whose 16 tokens are filled up to pieces of 32.
#include "profiler/whatif/sizes/full_pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "profiler/whatif/sizes/sequence.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

class FullPiecesTest : public testing::Test {
 protected:
  static constexpr uint32_t kWords = 0, kHidden = 1, kPadded = 2, kMask = 3, kMasked = 4, kTogether = 5,
                            kGradient = 6;

  // `viewed`: what was filled up is seen as one piece.
  [[nodiscard]] whatif::Step Written(bool viewed) {
    const whatif::Step bare = BareStep(&run_);
    Inserter into(bare, {});
    StepBlock input;
    input.category = classify::Category::kInput;
    (void)into.AddBlock(input);
    const View rows{{4, 32, 8}, {256, 8, 1}}, square{{32, 32}, {32, 1}}, pairs{{4, 32, 32}, {1024, 32, 1}};
    Call(into, "aten::view", {{kWords, {{4, 32}, {32, 1}}}}, kWords, {{4, 32}, {32, 1}});
    Call(into, "aten::exp", {{kWords, {{4, 32, 8}, {32, 1, 0}}}}, kHidden, rows);
    Call(into, "aten::constant_pad_nd", {{kHidden, rows}}, kPadded, rows);
    if (viewed) Call(into, "aten::view", {{kPadded, rows}}, kPadded, {{4, 1, 32, 8}, {256, 256, 8, 1}});
    Call(into, "aten::ones", {}, kMask, square);
    const uint32_t mul =
        Call(into, "aten::mul", {{kPadded, {{4, 32, 32}, {256, 8, 0}}}, {kMask, {{4, 32, 32}, {0, 32, 1}}}},
             kMasked, pairs);
    const uint32_t node = into.AddNode(mul, at_);
    Call(into, "aten::add", {{kPadded, rows}, {kHidden, rows}}, kTogether, rows);
    Call(into, "aten::mul", {{kMasked, pairs}, {kMask, {{4, 32, 32}, {0, 32, 1}}}}, kGradient, pairs, node);
    return std::move(into).Finish();
  }
  // Of each block, of 4 bytes, with so many words.
  [[nodiscard]] std::vector<uint64_t> Elements(int64_t words, bool viewed = true) {
    const whatif::Step step = Written(viewed);
    const whatif::Step other = AtLength(step, FollowSequence(step).value(), words);
    std::vector<uint64_t> elements;
    for (const StepBlock& block : other.blocks) elements.push_back(block.requested / 4);
    return elements;
  }

 private:
  uint32_t Call(Inserter& into, const char* name, const std::vector<std::pair<uint32_t, View>>& given,
                uint32_t made, const View& result, uint32_t node = model::kNone) {
    const auto seen = [&](uint32_t block, const View& view) {
      return Viewed(into, block, view, block == kWords ? kLong : kFloat);
    };
    std::vector<Operand> operands;
    for (const auto& [block, view] : given) operands.push_back(seen(block, view));
    const uint32_t op = into.Begin(name, model::kNone, node, ++at_, operands);
    if (made == into.step().blocks.size()) {
      StepBlock block;
      block.begin = at_ + 0.5, block.requested = 4;
      for (const int64_t size : result.shape) block.requested *= static_cast<uint64_t>(size);
      (void)into.AddBlock(block);
    }
    into.End(op, ++at_, {seen(made, result)});
    return op;
  }

  Position at_ = 0;
  model::Run run_;
};

TEST_F(FullPiecesTest, WhatIsComputedOfThePieceStaysAsLong) {
  const std::vector<uint64_t> elements = Elements(16);
  EXPECT_EQ(elements[kHidden], 4 * 16 * 8u);
  EXPECT_EQ(elements[kPadded], 4 * 32 * 8u);
  EXPECT_EQ(elements[kMasked], 4 * 32 * 32u);
  EXPECT_EQ(elements[kGradient], 4 * 32 * 32u) << "in backward too";
}

TEST_F(FullPiecesTest, SoIsAMaskForIt) { EXPECT_EQ(Elements(16)[kMask], 32 * 32u); }

TEST_F(FullPiecesTest, WhatMeetsTheTokensWasCutOff) { EXPECT_EQ(Elements(16)[kTogether], 4 * 16 * 8u); }

TEST_F(FullPiecesTest, APaddingThatNothingSeesAsAPieceFillsNothingUp) {
  EXPECT_EQ(Elements(16, false)[kPadded], 4 * 16 * 8u);
}

// One of twice the length, or two: they take different memory.
TEST_F(FullPiecesTest, OfMoreTokensItIsNotKnownWhetherThereAreMorePieces) {
  const auto why = [&](bool viewed, int64_t words) {
    const whatif::Step step = Written(viewed);
    return WhyInPieces(step, FollowSequence(step).value(), words);
  };
  EXPECT_THAT(why(true, 64), testing::HasSubstr("fills 32 tokens up to a piece of 32"));
  EXPECT_EQ(why(true, 16), "");
  EXPECT_EQ(why(false, 64), "");
}

}  // namespace
}  // namespace vramscope::whatif
