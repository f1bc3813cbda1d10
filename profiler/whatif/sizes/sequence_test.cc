// SPDX-License-Identifier: Apache-2.0
// Steps with longer and shorter sequences. The oracle of the sizes is what PyTorch asked for in a T5 of 4
// samples and 4 heads of 16 elements, with 32 tokens and with 16.
#include "profiler/whatif/sizes/sequence.h"

#include <gtest/gtest.h>

namespace vramscope::whatif {
namespace {

constexpr uint32_t kQuery = 0, kSums = 1, kWork = 2;

//   aten::_efficient_attention_forward (query, key) -> ..., sums of rows
//   aten::_efficient_attention_backward (gradient, query, key): works in a block of its own
whatif::Step Attention() {
  whatif::Step step;
  step.shapes.push_back({});
  step.own_texts = std::make_shared<std::deque<std::string>>();
  step.blocks.resize(3);
  step.blocks[kSums].requested = 2048;
  step.blocks[kWork].requested = 262'400;
  step.blocks[kWork].op = 1;
  const auto add = [&](uint32_t block, uint16_t argument, const char* shape, const char* strides) {
    Operand& operand = step.operands.emplace_back();
    operand.block = block, operand.argument = argument;
    operand.dtype = 6;  // c10::ScalarType::Float
    operand.shape = static_cast<uint32_t>(step.shapes.size());
    operand.strides = operand.shape + 1;
    step.shapes.push_back(ParseShape(shape, step.dims));
    step.shapes.push_back(ParseShape(strides, step.dims));
  };
  for (const char* name : {"aten::_efficient_attention_forward", "aten::_efficient_attention_backward"}) {
    Op& op = step.ops.emplace_back();
    op.name = Step::kFirstOwnText + static_cast<uint32_t>(step.own_texts->size());
    step.own_texts->emplace_back(name);
    op.first_input = static_cast<uint32_t>(step.operands.size());
    op.input_count = 2;
    const auto first = static_cast<uint16_t>(step.ops.size() - 1);
    for (const uint16_t place : {first, static_cast<uint16_t>(first + 1)})
      add(kQuery, place, "4,32,4,16", "2048,64,16,1");
  }
  step.ops[0].first_output = static_cast<uint32_t>(step.operands.size());
  step.ops[0].output_count = 1;
  add(kSums, 1, "4,4,32", "128,32,1");
  return step;
}

BatchAxis ThirtyTwoTokens() {
  BatchAxis axis;
  axis.batch = 32;
  axis.stride = {64, 1, 0};
  axis.second = {0, 0, 0};
  return axis;
}

TEST(SequenceTest, FewerRowsThanAttentionWorksOnAtOnceTakeAsMuch) {
  const Step shorter = AtLength(Attention(), ThirtyTwoTokens(), 16);
  EXPECT_EQ(shorter.blocks[kSums].requested, 2048u);
  EXPECT_EQ(shorter.blocks[kWork].requested, 262'400u);
}

TEST(SequenceTest, MoreRowsTakeWholeGroups) {
  const Step longer = AtLength(Attention(), ThirtyTwoTokens(), 72);
  EXPECT_EQ(longer.blocks[kSums].requested, 3 * 2048u);
  EXPECT_EQ(longer.blocks[kWork].requested, 2 * 262'400u);
}

// A table in the place of a parameter, looked up or added, of a program whose batch is [4, 32].
std::string TooLong(const char* op, const char* table, const char* strides, const char* other) {
  Step step;
  step.shapes.push_back({});
  step.own_texts = std::make_shared<std::deque<std::string>>(1, op);
  step.blocks.resize(2);
  step.blocks[0].category = classify::Category::kParameter;
  step.blocks[0].name = "table";
  Op& lookup = step.ops.emplace_back();
  lookup.name = Step::kFirstOwnText;
  lookup.input_count = 2;
  for (const auto& [shape, distances] : {std::pair(table, strides), std::pair(other, other)}) {
    Operand& operand = step.operands.emplace_back();
    operand.block = static_cast<uint32_t>(step.operands.size() - 1);
    operand.shape = static_cast<uint32_t>(step.shapes.size());
    operand.strides = operand.shape + 1;
    step.shapes.push_back(ParseShape(shape, step.dims));
    step.shapes.push_back(ParseShape(distances, step.dims));
  }
  BatchAxis axis = ThirtyTwoTokens();
  axis.stride = {0, 1};
  return WhyTooLong(step, axis, 64);
}

TEST(SequenceTest, ATableOfPositionsHasSoManyRows) {
  EXPECT_EQ(TooLong("aten::embedding", "32,16", "16,1", "1,32"),
            "the table of positions table has 32 rows: sequences of 64 tokens need a longer one.");
  EXPECT_EQ(TooLong("aten::embedding", "32,4", "4,1", "32,32"), "") << "T5's table of distances";
  EXPECT_NE(TooLong("aten::add", "32,16", "16,1", "4,32,16"), "");
  EXPECT_EQ(TooLong("aten::add", "32,16", "0,1", "4,32,16"), "") << "a bias, expanded to the tokens";
}

// Cohere2, whose layers look back 64 tokens: masks from 64 on.
TEST(SequenceTest, LengthsOnTheOtherSideOfAWindowHaveOtherMasks) {
  Step step;
  EXPECT_EQ(WhyOtherMasks(step, 32, 64), "") << "no window";
  step.sliding_windows = {{"sliding_window", 64}};
  for (const auto& [recorded, length] : {std::pair(32, 63), std::pair(64, 96), std::pair(96, 64)})
    EXPECT_EQ(WhyOtherMasks(step, recorded, length), "");
  EXPECT_EQ(
      WhyOtherMasks(step, 32, 64),
      "attention looks back 64 tokens at most (sliding_window), and the program makes masks from so many "
      "tokens on: the recorded step, of 32, has none: record with 64 or more.");
  EXPECT_EQ(
      WhyOtherMasks(step, 96, 48),
      "attention looks back 64 tokens at most (sliding_window), and the program makes masks from so many "
      "tokens on: the recorded step, of 96, has them, one of 48 has none: record with 63 or fewer.");
}

// positions = torch.arange(count)[:, None] * scale, of [4, 32]; `cut`: table[:tokens]
std::string Numbered(int64_t count, bool cut, bool of_tokens = false) {
  whatif::Step step;
  step.shapes.push_back({});
  step.own_texts = std::make_shared<std::deque<std::string>>();
  step.blocks.resize(2);
  const auto operand = [&](uint32_t block, const std::string& dims, const char* strides) {
    Operand& added = step.operands.emplace_back();
    added.block = block;
    for (const std::string& text : {dims, std::string(strides)})
      step.shapes.push_back(ParseShape(text, step.dims));
    added.strides = static_cast<uint32_t>(step.shapes.size() - 1);
    added.shape = added.strides - 1;
  };
  const auto op = [&](const char* name, uint32_t inputs) {
    step.own_texts->emplace_back(name);
    Op& added = step.ops.emplace_back();
    added.name = Step::kFirstOwnText + static_cast<uint32_t>(step.ops.size() - 1);
    added.first_input = static_cast<uint32_t>(step.operands.size());
    added.first_output = added.first_input + inputs;
    added.input_count = inputs, added.output_count = 1;
    step.op_ends.push_back(static_cast<uint32_t>(step.ops.size() - 1));
  };
  const std::string rows = std::to_string(count);
  op("aten::arange", 0), operand(0, rows, "1");
  op("aten::mul", 1), operand(0, rows + ",1", "1,1"), operand(1, rows + ",16", "16,1");
  if (cut) op("aten::slice", 1), operand(1, rows + ",16", "16,1"), operand(1, "32,16", "16,1");
  BatchAxis axis = ThirtyTwoTokens();
  axis.stride = {of_tokens ? 1u : 0u, 0};
  axis.second = {0, 0};
  return WhyUnknownTables(step, axis);
}

// Distances of two tokens from each other: as many as twice the tokens, or as many as the model can have.
TEST(SequenceTest, MorePositionsThanTokensMayBeAsManyForAnyLength) {
  EXPECT_EQ(Numbered(64, false),
            "the program numbers 64 positions for 32 tokens, and one length does not tell whether they are "
            "more for another: record it at that length.");
  for (const int64_t doubtful : {63, 65, 128}) EXPECT_NE(Numbered(doubtful, false), "") << doubtful;
  EXPECT_EQ(Numbered(64, true), "") << "the table is cut to the tokens";
  for (const int64_t other : {16, 32, 48, 96, 512}) EXPECT_EQ(Numbered(other, false), "") << other;
  EXPECT_EQ(Numbered(64, false, true), "") << "they grow with the tokens";
}

struct Lengths {
  std::vector<int64_t> sizes, strides;
  uint64_t offset = 0;
};
// Of a block with the tokens so far from each other, and so many others beside them.
Lengths OtherLength(const char* dims, const char* strides, uint64_t distance, int64_t tokens, int64_t length,
                    uint64_t offset = 0, int64_t beside = 0) {
  whatif::Step step;
  step.shapes = {{}, ParseShape(dims, step.dims), ParseShape(strides, step.dims)};
  step.blocks.resize(1);
  Operand& operand = step.operands.emplace_back();
  operand.block = 0, operand.dtype = 6, operand.shape = 1, operand.strides = 2, operand.offset = offset;
  step.blocks[0].requested = static_cast<uint64_t>(4 * (tokens + beside)) * distance * 4;
  BatchAxis axis;
  axis.batch = tokens;
  axis.stride = {distance};
  axis.second = {0};
  axis.beside = {beside};
  const Step other = AtLength(step, axis, length);
  const auto all = [](std::span<const int64_t> some) {
    return std::vector<int64_t>(some.begin(), some.end());
  };
  return {all(SizesOf(other, other.operands[0])), all(StridesOf(other, other.operands[0])),
          other.operands[0].offset};
}

// 256 channels of 34 are as many numbers as 272 of 32. The oracle: [4, 256, 18] without gaps, and in the next
// test x[:, :2] of an x of [4, 100, 8].
TEST(SequenceTest, WhatAConvolutionMakesOfRoomAtTheSidesIsThatMuchLonger) {
  const Lengths shorter = OtherLength("4,256,34", "8704,34,1", 1, 32, 16);
  EXPECT_EQ(shorter.sizes, (std::vector<int64_t>{4, 256, 18}));
  EXPECT_EQ(shorter.strides, (std::vector<int64_t>{4608, 18, 1}));
}

TEST(SequenceTest, ASliceHasTheDistancesOfItsBlock) {
  EXPECT_EQ(OtherLength("4,2,8", "512,8,1", 8, 64, 100).strides, (std::vector<int64_t>{800, 8, 1}));
}

// Of an x of [4, 32, 8], and of one with 13 others before them.
TEST(SequenceTest, APartBeginsWhereItDoesThen) {
  EXPECT_EQ(OtherLength("32,8", "8,1", 8, 32, 16, 3 * 256).offset, 3u * 128) << "x[3]";
  EXPECT_EQ(OtherLength("4,31,8", "256,8,1", 8, 32, 16, 8).offset, 8u) << "x[:, 1:]";
  EXPECT_EQ(OtherLength("4,3,8", "256,8,1", 8, 32, 16, 29 * 8).offset, 13u * 8) << "x[:, -3:]";
  EXPECT_EQ(OtherLength("4,8,8", "256,8,1", 8, 32, 16, 16 * 8 + 4).offset, 8u * 8 + 4) << "x[:, 16:24, 4:]";
  EXPECT_EQ(OtherLength("13,8", "8,1", 8, 32, 16, 2 * 360, 13).offset, 2u * 232) << "x[2, :13]";
  EXPECT_EQ(OtherLength("4,32,8", "360,8,1", 8, 32, 16, 13 * 8, 13).offset, 13u * 8) << "x[:, 13:]";
}

// The first 16 of 19 that a convolution made of 16 with room for 3: of 32 it makes 35.
TEST(SequenceTest, WhatLiesBehindTheTokensOfEachChannelIsAsMuchForAnyLength) {
  const Lengths longer = OtherLength("4,256,16", "4864,19,1", 1, 16, 32);
  EXPECT_EQ(longer.sizes, (std::vector<int64_t>{4, 256, 32}));
  EXPECT_EQ(longer.strides, (std::vector<int64_t>{256 * 35, 35, 1}));
  EXPECT_EQ(OtherLength("4,256,16", "4864,19,1", 1, 16, 8).strides, (std::vector<int64_t>{256 * 11, 11, 1}));
}

// x[:, 1:].unfold(1, tokens - 1, 1), where x was padded by 2: what is to come after each token, three times.
// The oracle: the same of 64 tokens, [4, 3, 16, 63] with 66 * 16 from each sample to the next.
TEST(SequenceTest, WindowsThatOverlapAreAsManyWhereTheirLengthIsTheTokens) {
  const Lengths longer = OtherLength("4,3,16,31", "544,16,1,16", 16, 32, 64);
  EXPECT_EQ(longer.sizes, (std::vector<int64_t>{4, 3, 16, 63}));
  EXPECT_EQ(longer.strides, (std::vector<int64_t>{66 * 16, 16, 1, 16}));
}

// x.unfold(1, 3, 1): each token with the two that follow.
TEST(SequenceTest, AndAsLongWhereTheirNumberIsTheTokens) {
  EXPECT_EQ(OtherLength("4,30,16,3", "512,16,1,16", 16, 32, 64).sizes, (std::vector<int64_t>{4, 62, 16, 3}));
  EXPECT_EQ(OtherLength("4,31,32,16", "992,16,16,1", 16, 32, 64).sizes, (std::vector<int64_t>{4, 63, 64, 16}))
      << "positions of each as others see them";
}

// Eight words of 32 letters.
TEST(SequenceTest, AFewTokensAreNeverNone) {
  EXPECT_EQ(OtherLength("4,8,8", "64,8,1", 8, 32, 16).sizes, (std::vector<int64_t>{4, 4, 8}));
  const Lengths least = OtherLength("8,4", "16,1", 16, 32, 2);
  EXPECT_EQ(least.sizes, (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(least.strides, (std::vector<int64_t>{16, 1}));
}

// The last three of 32, which LFM2's convolutions keep; four words of 32 letters.
TEST(SequenceTest, TheLastOnesAreAsManyOfAnyLength) {
  EXPECT_EQ(OtherLength("4,3,8", "24,8,1", 8, 32, 64).sizes, (std::vector<int64_t>{4, 3, 8}));
  EXPECT_EQ(OtherLength("4,4,8", "32,8,1", 8, 32, 64).sizes, (std::vector<int64_t>{4, 8, 8}));
  EXPECT_EQ(OtherLength("4,4,8", "32,8,1", 8, 32, 16, 0, 11).sizes, (std::vector<int64_t>{4, 4, 8}))
      << "the last four of 43, of which 32 are words";
}

// NeoMME's mask of 132 tokens, 36 of them of an image, which attention fills up to rows of 136: of 228 to
// 232.
TEST(SequenceTest, AMaskThatAttentionFillsUpIsFilledUpAnew) {
  const auto filled = [](const char* around, const char* into) {
    whatif::Step step;
    step.shapes.resize(1);
    for (const char* const dims : {"8,1,132,132", "17424,17424,132,1", into})
      step.shapes.push_back(ParseShape(dims, step.dims));
    const int64_t columns = step.dims.back(), rows = 132 * columns;
    step.shapes.push_back({static_cast<uint32_t>(step.dims.size()), 4, true});
    step.dims.insert(step.dims.end(), {rows, rows, columns, 1});
    step.own_texts = std::make_shared<std::deque<std::string>>();
    *step.own_texts = {around, "aten::constant_pad_nd"};
    step.blocks.resize(2);
    step.ops.push_back({.name = Step::kFirstOwnText});
    step.ops.push_back({.name = Step::kFirstOwnText + 1,
                        .parent = 0,
                        .input_count = 1,
                        .first_output = 1,
                        .output_count = 1});
    for (uint32_t block = 0; block < 2; ++block) {
      Operand& operand = step.operands.emplace_back();
      operand.block = block, operand.dtype = 6;
      operand.shape = 1 + 2 * block, operand.strides = 2 + 2 * block;
    }
    BatchAxis axis;
    axis.batch = 96, axis.beside = {36, 36};
    axis.stride = {132, static_cast<uint64_t>(columns)}, axis.second = {1, 1};
    const Step longer = AtLength(step, axis, 192);
    const std::span<const int64_t> sizes = SizesOf(longer, longer.operands[1]);
    return std::vector<int64_t>(sizes.begin(), sizes.end());
  };
  const std::vector<int64_t> anew = {8, 1, 228, 232};
  EXPECT_EQ(filled("aten::scaled_dot_product_attention", "8,1,132,136"), anew);
  EXPECT_NE(filled("aten::scaled_dot_product_attention", "8,1,132,140"), anew);
  EXPECT_NE(filled("aten::pad", "8,1,132,136"), anew);
}

// Gradients of a bias: sums over 4 samples of 32,770 tokens, two more than the sequence has.
TEST(SequenceTest, SumsAreOfWhatADimensionHasThen) {
  whatif::Step step;
  step.shapes = {{}, ParseShape("4,32770,256", step.dims), ParseShape("8389120,256,1", step.dims)};
  step.own_texts = std::make_shared<std::deque<std::string>>(1, "aten::sum");
  step.blocks.resize(2);
  Op& sum = step.ops.emplace_back();
  sum.name = Step::kFirstOwnText, sum.input_count = 1;
  Operand& input = step.operands.emplace_back();
  input.block = 0, input.dtype = 6, input.shape = 1, input.strides = 2;
  BatchAxis axis;
  axis.batch = 32768;
  axis.stride = {256, 0}, axis.second = {0, 0};
  const auto of = [](int64_t tokens) {
    return Reduction{{{4, tokens * 256, true}, {tokens, 256, true}, {256, 1, false}}, 4};
  };
  axis.reductions = {{0, 1, of(32770)}};
  const uint64_t before = ScratchOf(of(32770), axis.device).sums,
                 after = ScratchOf(of(1026), axis.device).sums;
  ASSERT_NE(before, after);
  EXPECT_EQ(AtLength(step, axis, 1024).blocks[1].requested, after);
  // One thread block sums up a few: it counts no others.
  step.blocks.emplace_back().requested = 512;
  axis.stride.push_back(0), axis.second.push_back(0), axis.reductions[0].counters = 2;
  EXPECT_EQ(AtLength(step, axis, 1024).blocks[2].requested, 512u);
  ASSERT_EQ(ScratchOf(of(10), axis.device).sums, 0u);
  EXPECT_EQ(AtLength(step, axis, 8).blocks[2].requested, 0u);
}

}  // namespace
}  // namespace vramscope::whatif
