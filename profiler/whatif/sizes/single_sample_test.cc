// SPDX-License-Identifier: Apache-2.0
// Masks of a batch of four sequences of 32 tokens, put together by hand as transformers' masking runs them.
#include "profiler/whatif/sizes/single_sample.h"

#include <gtest/gtest.h>

#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using Sizes = std::vector<int64_t>;

class SingleSampleTest : public testing::Test, protected WrittenStep {
 protected:
  SingleSampleTest() {
    mask_ = Long(10, 90), rows_ = Long(12, 90), columns_ = Long(14, 90);
    axis_.batch = 4;
  }

  uint32_t Long(Position begin, Position end) {
    const uint32_t block = AddBlock(begin, end);
    step_.blocks[block].requested = 1024;
    axis_.stride.push_back(0);
    axis_.second.push_back(0);
    return block;
  }
  // Operands of the last call, results behind what goes in.
  void Add(uint32_t block, const Sizes& sizes, const Sizes& strides, bool result = false) {
    Op& op = step_.ops.back();
    Operand operand;
    operand.op = static_cast<uint32_t>(step_.ops.size() - 1);
    operand.block = block, operand.dtype = 4;  // int64
    operand.shape = Shaped(sizes), operand.strides = Shaped(strides);
    ++(result ? op.output_count : op.input_count);
    if (!result) op.first_output = static_cast<uint32_t>(step_.operands.size()) + 1;
    step_.operands.push_back(operand);
  }
  // index { contiguous }: what it is indexed with is copied.
  uint32_t Copy(uint32_t from, const Sizes& strides, Position end) {
    const uint32_t index = Call("aten::index", kNone, 20, 40);
    Add(mask_, {4, 32}, {32, 1});
    const uint32_t contiguous = Call("aten::contiguous", index, 22, 30);
    Add(from, {4, 1, 1, 32}, strides);
    const uint32_t copy = Long(25, end);
    step_.blocks[copy].op = contiguous;
    Add(copy, {4, 1, 1, 32}, {32, 32, 32, 1}, true);
    return copy;
  }

  BatchAxis axis_;
  uint32_t mask_ = 0, rows_ = 0, columns_ = 0;

 private:
};

TEST_F(SingleSampleTest, WhatIsExpandedOverSamplesIsCopiedForThemAlone) {
  EXPECT_EQ(CopiedForSamples(step_, axis_, Copy(columns_, {0, 32, 32, 1}, 38)), columns_);
  EXPECT_EQ(CopiedForSamples(step_, axis_, Copy(rows_, {1, 0, 0, 0}, 38)), kNone) << "over the columns too";
  EXPECT_EQ(CopiedForSamples(step_, axis_, mask_), kNone) << "no copy";
}

// A weight beside images with their channels last: cuDNN is given it as contiguous(channels_last).
TEST_F(SingleSampleTest, WhatLiesWithoutGapsAnywayIsCopiedForOneSampleToo) {
  Call("aten::contiguous", kNone, 20, 40);
  Add(mask_, {8, 4, 3, 3}, {36, 9, 3, 1});
  const uint32_t copy = Long(25, 35);
  step_.blocks[copy].op = static_cast<uint32_t>(step_.ops.size() - 1);
  Add(copy, {8, 4, 3, 3}, {36, 1, 12, 4}, true);
  EXPECT_EQ(CopiedForSamples(step_, axis_, copy), kNone);
}

// As recorded of Speech2Text: matmul of queries [4, 8, 32, 64] that a transpose made.
TEST_F(SingleSampleTest, HeadsOfOneSampleAreCountedWhereTheyLie) {
  axis_.stride[mask_] = 16384;
  const auto copied = [&](const Sizes& strides, const Sizes& into) {
    Call("aten::reshape", kNone, 20, 40);
    Add(mask_, {4, 8, 32, 64}, strides);
    const uint32_t copy = Long(25, 95);
    step_.blocks[copy].op = static_cast<uint32_t>(step_.ops.size() - 1);
    Add(copy, into, {2048, 64, 1}, true);
    return copy;
  };
  const uint32_t copy = copied({16384, 64, 512, 1}, {32, 32, 64});
  EXPECT_EQ(CopiedForSamples(step_, axis_, copy), mask_);
  EXPECT_EQ(CopiedForSamples(step_, axis_, copied({16384, 64, 512, 1}, {4, 32, 512})), kNone)
      << "heads behind rows";
  Scene scene;
  scene.blocks = {{.begin = 10, .end = 90, .bytes = 65536, .origin = mask_},
                  {.begin = 95, .end = 99, .bytes = 65536, .origin = mask_},
                  {.begin = 25, .end = 95, .bytes = 65536, .origin = copy}};
  LeaveOutCopiesForSamples(step_, axis_, scene);
  EXPECT_EQ(scene.blocks[2].bytes, 0u);
  EXPECT_EQ(scene.blocks[0].end, 95) << "as long as the copy was";
  EXPECT_EQ(scene.blocks[1].end, 99) << "computed again later";
}

TEST_F(SingleSampleTest, OfACopyOfACopyTheFirstStaysAsLongAsTheSecond) {
  axis_.stride[mask_] = 16384;
  const auto copied = [&](uint32_t from) {
    Call("aten::reshape", kNone, 20, 40);
    Add(from, {4, 8, 32, 64}, {16384, 64, 512, 1});
    const uint32_t copy = Long(25, 95);
    axis_.stride[copy] = 16384;
    step_.blocks[copy].op = static_cast<uint32_t>(step_.ops.size() - 1);
    Add(copy, {32, 32, 64}, {2048, 64, 1}, true);
    return copy;
  };
  const uint32_t first = copied(mask_), second = copied(first);
  Scene scene;
  scene.blocks = {{.begin = 10, .end = 30, .bytes = 65536, .origin = mask_},
                  {.begin = 25, .end = 60, .bytes = 65536, .origin = first},
                  {.begin = 50, .end = 95, .bytes = 65536, .origin = second}};
  LeaveOutCopiesForSamples(step_, axis_, scene);
  EXPECT_EQ(scene.blocks[0].end, 95);
  EXPECT_EQ(scene.blocks[1].bytes + scene.blocks[2].bytes, 0u);
}

// Autocast converts for linear() what its matmul() reshapes, and a node what the next one does.
TEST_F(SingleSampleTest, WhatWasConvertedForTheOperatorStaysAndNotWhatItWasConvertedFrom) {
  axis_.stride[mask_] = 16384;
  const uint32_t linear = Call("aten::linear", kNone, 20, 45);
  const uint32_t reshape = Call("aten::reshape", linear, 22, 40);
  Add(mask_, {4, 8, 32, 64}, {16384, 64, 512, 1});
  const uint32_t copy = Long(25, 95), converted = Long(21, 44), other = Long(24, 60);
  step_.blocks[copy].op = reshape;
  Add(copy, {32, 32, 64}, {2048, 64, 1}, true);
  step_.blocks[converted].copy_of = step_.blocks[other].copy_of = mask_;
  const auto ends = [&](uint32_t made_for, Position until) {
    step_.blocks[converted].op = made_for;
    Scene scene;
    scene.blocks = {{.begin = 10, .end = until, .bytes = 65536, .origin = mask_},
                    {.begin = 21, .end = 44, .bytes = 32768, .origin = converted},
                    {.begin = 24, .end = 60, .bytes = 512, .origin = other},
                    {.begin = 25, .end = 95, .bytes = 32768, .origin = copy}};
    LeaveOutCopiesForSamples(step_, axis_, scene);
    EXPECT_EQ(scene.blocks[2].end, 60) << "too small";
    return std::pair(scene.blocks[0].end, scene.blocks[1].end);
  };
  EXPECT_EQ(ends(linear, 90), std::pair(90.0, 95.0));
  EXPECT_EQ(ends(kNone, 23), std::pair(23.0, 95.0)) << "nothing else is there";
  EXPECT_EQ(ends(kNone, 90), std::pair(95.0, 44.0)) << "for something else";
}

TEST_F(SingleSampleTest, WhatHasOtherSamplesInFrontOrNoDistancesIsCopied) {
  axis_.stride[mask_] = 64;  // the samples are in another place
  Call("aten::reshape", kNone, 20, 40);
  Add(mask_, {4, 8, 32, 64}, {16384, 64, 512, 1});
  const uint32_t copy = Long(25, 95);
  step_.blocks[copy].op = static_cast<uint32_t>(step_.ops.size() - 1);
  Add(copy, {32, 32, 64}, {2048, 64, 1}, true);
  EXPECT_EQ(CopiedForSamples(step_, axis_, copy), kNone);
  axis_.stride[mask_] = 16384;
  EXPECT_EQ(CopiedForSamples(step_, axis_, copy), mask_);
  step_.operands[step_.ops.back().first_input].strides = 0;
  EXPECT_EQ(CopiedForSamples(step_, axis_, copy), kNone) << "not recorded";
}

TEST_F(SingleSampleTest, CopiesOfIndicesGrowWhereWhatIsIndexedHasTheSamples) {
  (void)Copy(rows_, {1, 0, 0, 0}, 38);
  EXPECT_FALSE(IsIndexOfSamples(step_, axis_, step_.ops.back()));
  axis_.stride[mask_] = 32;
  EXPECT_TRUE(IsIndexOfSamples(step_, axis_, step_.ops.back()));
  EXPECT_FALSE(IsIndexOfSamples(step_, axis_, step_.ops.front())) << "the result of index itself";
}

// positions.expand(-1, 4, -1), written out.
TEST_F(SingleSampleTest, WhatIsExpandedOverSamplesHasThemInTheSecondDimensionOnlyWhereTimeComesFirst) {
  const auto axis = [&](const Sizes& strides, bool time_first) {
    Call("aten::clone", kNone, 50, 60);
    Add(mask_, {32, 4, 8}, strides);
    Add(rows_, {32, 4, 8}, {32, 8, 1}, true);
    const Op& op = step_.ops.back();
    return ExpandedAxis(step_, axis_, op, OutputsOf(step_, op)[0], time_first);
  };
  EXPECT_EQ(axis({8, 0, 1}, true), 8u);
  EXPECT_EQ(axis({8, 0, 1}, false), 0u);
  EXPECT_EQ(axis({32, 8, 1}, true), 0u) << "it has 4 by itself";
  Call("aten::clone", kNone, 50, 60);
  Add(mask_, {4, 32, 8}, {0, 8, 1});
  Add(rows_, {4, 32, 8}, {256, 8, 1}, true);
  for (const bool time_first : {false, true})
    EXPECT_EQ(ExpandedAxis(step_, axis_, step_.ops.back(), step_.operands.back(), time_first), 256u);
}

// Attention of three queries to the twelve parts of four samples: queries @ keys.
TEST_F(SingleSampleTest, WhatAProductExpandsHasTheSamplesOfItsOtherOperand) {
  const auto axis = [&](const char* name, const Sizes& from) {
    axis_.stride[columns_] = 3 * 80;
    const uint32_t product = Call(name, kNone, 50, 60);
    Add(mask_, {1, 2, 3, 8}, {48, 8, 16, 1});
    Add(columns_, {12, 2, 8, 5}, {80, 40, 5, 1});
    Call("aten::clone", product, 52, 54);
    Add(mask_, {12, 2, 3, 8}, from);
    Add(rows_, {12, 2, 3, 8}, {48, 24, 8, 1}, true);
    const Op& op = step_.ops.back();
    return ExpandedAxis(step_, axis_, op, OutputsOf(step_, op)[0], false);
  };
  EXPECT_EQ(axis("aten::matmul", {0, 8, 16, 1}), 3u * 48);
  EXPECT_EQ(axis("aten::matmul", {48, 8, 16, 1}), 0u) << "it has 12 by itself";
  EXPECT_EQ(axis("aten::einsum", {0, 8, 16, 1}), 0u);
}

// MultiheadAttention(batch_first=True) of queries.expand(4, -1, -1).
TEST_F(SingleSampleTest, WhatIsExpandedOverSamplesMayBeTransposedThen) {
  const auto axis = [&](const char* name, const Sizes& from, const Sizes& apart) {
    const size_t before = step_.ops.size();
    const uint32_t transpose = Call(name, kNone, 40, 45);
    Add(mask_, from, apart);
    Add(mask_, {32, 4, 8}, {8, 0, 1}, true);
    Call("aten::as_strided", transpose, 42, 44);
    Add(mask_, from, apart);
    Add(mask_, {32, 4, 8}, {8, 0, 1}, true);
    Call("aten::clone", kNone, 50, 60);
    Add(mask_, {32, 4, 8}, {8, 0, 1});
    Add(rows_, {32, 4, 8}, {32, 8, 1}, true);
    const Op& op = step_.ops.back();
    const uint64_t stride = ExpandedAxis(step_, axis_, op, OutputsOf(step_, op)[0], false);
    step_.ops.resize(before);
    return stride;
  };
  EXPECT_EQ(axis("aten::transpose", {4, 32, 8}, {0, 8, 1}), 8u);
  EXPECT_EQ(axis("aten::permute", {4, 32, 8}, {0, 8, 1}), 8u);
  EXPECT_EQ(axis("aten::expand", {32, 1, 8}, {8, 8, 1}), 0u) << "heads, perhaps";
  EXPECT_EQ(axis("aten::transpose", {32, 8, 4}, {8, 1, 0}), 0u) << "behind all else before, too";
}

// torch.cat(weight.expand(4, -1, -1).split(8, dim=1)): groups of queries beside each other.
TEST_F(SingleSampleTest, WhatIsJoinedOfPartsThatWereExpandedHasTheSamplesOfEach) {
  const auto axis = [&](const Sizes& sizes, const Sizes& strides) {
    Call("aten::cat", kNone, 50, 60);
    for (int part = 0; part < 3; ++part) Add(mask_, sizes, strides);
    Add(rows_, {3 * sizes[0], 8, 2}, {16, 2, 1}, true);
    const Op& op = step_.ops.back();
    return ExpandedAxis(step_, axis_, op, OutputsOf(step_, op)[0], false);
  };
  EXPECT_EQ(axis({4, 8, 2}, {0, 2, 1}), 16u);
  EXPECT_EQ(axis({4, 8, 2}, {16, 2, 1}), 0u) << "four of its own";
  EXPECT_EQ(axis({5, 8, 2}, {0, 2, 1}), 0u) << "not as many";
}

// M-RoPE's positions.expand(3, 4, -1).float(): what it was expanded to in front of the samples has nothing of
// them.
TEST_F(SingleSampleTest, WhatIsExpandedOverSamplesMayBeExpandedInFrontOfThemToo) {
  const auto axis = [&](const Sizes& sizes, const Sizes& strides) {
    Call("aten::_to_copy", kNone, 50, 60);
    Add(mask_, sizes, strides);
    Add(rows_, sizes, {sizes[1] * 8, 8, 1}, true);
    const Op& op = step_.ops.back();
    return ExpandedAxis(step_, axis_, op, OutputsOf(step_, op)[0], false);
  };
  EXPECT_EQ(axis({3, 4, 8}, {0, 0, 1}), 8u);
  EXPECT_EQ(axis({3, 4, 8}, {8, 0, 1}), 0u) << "three of its own, for 4 of something";
  EXPECT_EQ(axis({1, 4, 8}, {0, 0, 1}), 0u) << "one of its own";
  EXPECT_EQ(axis({3, 5, 8}, {0, 0, 1}), 0u) << "not as many";
}

// As recorded: 1,536 bytes of int64 for [1, 32], none for [4, 32].
// torch.cat([positions] * batch)
TEST_F(SingleSampleTest, WhatIsJoinedWithItselfForEachSampleHasThem) {
  const auto stride = [&](uint32_t last, int count) {
    Call("aten::cat", kNone, 50, 60);
    for (int i = 1; i < count; ++i) Add(rows_, {2, 32}, {32, 1});
    Add(last, {2, 32}, {32, 1});
    Add(mask_, {2 * count, 32}, {32, 1}, true);
    return ExpandedAxis(step_, axis_, step_.ops.back(), OutputsOf(step_, step_.ops.back())[0], false);
  };
  EXPECT_EQ(stride(rows_, 4), 2u * 32);
  EXPECT_EQ(stride(columns_, 4), 0u) << "other ones";
  EXPECT_EQ(stride(rows_, 3), 0u) << "for something else";
}

TEST_F(SingleSampleTest, OneRowIsScannedByTheWholeDevice) {
  axis_.stride[mask_] = 32;
  const auto scratch = [&](const Sizes& sizes) {
    Call("aten::cumsum", kNone, 50, 60);
    Add(mask_, sizes, {32, 1});
    Add(mask_, sizes, {32, 1}, true);
    Scene scene;
    AddScans(step_, axis_, scene);
    step_.ops.pop_back();
    return scene.blocks.empty() ? 0 : scene.blocks[0].bytes;
  };
  EXPECT_EQ(scratch({4, 32}), 1536u);
  EXPECT_EQ(scratch({8, 16}), 0u) << "two rows for each sample";
  axis_.stride[mask_] = 0;
  EXPECT_EQ(scratch({4, 32}), 0u) << "no samples";
}

// Electra's token types, [1, 32] for all samples, as rows of a table.
TEST_F(SingleSampleTest, WhatIsExpandedIsViewedForOneSample) {
  Call("aten::reshape", kNone, 20, 40);
  Add(mask_, {4, 32}, {0, 1});
  const uint32_t copy = Long(25, 95);
  step_.blocks[copy].op = static_cast<uint32_t>(step_.ops.size() - 1);
  Add(copy, {128}, {1}, true);
  EXPECT_EQ(CopiedForSamples(step_, axis_, copy), kNone) << "not known to have the samples";
  axis_.stride[copy] = 32;
  EXPECT_EQ(CopiedForSamples(step_, axis_, copy), mask_);
}

// Positions [1, 32] are added to [4, 32]: their gradient is summed over the samples.
TEST_F(SingleSampleTest, ASumOverOneSampleIsLeftOut) {
  axis_.stride[mask_] = 32;
  const auto summed = [&](const char* node, bool viewed) {
    const auto made = static_cast<uint32_t>(step_.nodes.size());
    step_.nodes.push_back({Text(node), kNone, 12, 120, 140});
    step_.ops[Call("aten::sum", kNone, 121, 125)].node = made;
    Add(mask_, {4, 32}, {32, 1});
    const uint32_t sum = Long(122, 190);
    step_.blocks[sum].op = static_cast<uint32_t>(step_.ops.size() - 1);
    Add(sum, {1, 32}, {32, 1}, true);
    step_.ops[Call(viewed ? "aten::view" : "aten::neg", kNone, 130, 131)].node = made;
    Add(sum, {1, 32}, {32, 1});
    return sum;
  };
  const uint32_t expanded = summed("ExpandBackward0", false), added = summed("AddBackward0", false);
  EXPECT_EQ(CopiedForSamples(step_, axis_, expanded), mask_);
  EXPECT_EQ(CopiedForSamples(step_, axis_, summed("AddmmBackward0", true)), kNone) << "a bias has no samples";
  for (const uint32_t sum : {expanded, added}) step_.blocks[sum].accumulated = 150;
  Scene scene;
  scene.blocks = {{.begin = 10, .end = 130, .bytes = 512, .origin = mask_},
                  {.begin = 122, .end = 190, .bytes = 128, .origin = expanded},
                  {.begin = 122, .end = 190, .bytes = 128, .origin = added}};
  LeaveOutCopiesForSamples(step_, axis_, scene);
  EXPECT_EQ(scene.blocks[0].bytes, 0u);
  EXPECT_EQ(scene.blocks[1].bytes, 512u) << "it is the gradient itself";
  EXPECT_EQ(scene.blocks[1].begin, 10);
  EXPECT_EQ(scene.blocks[2].bytes, 128u) << "the other operand has it too";
  EXPECT_EQ(scene.blocks[2].begin, 150);
}

// DeBERTa's keys of positions, x.repeat(4, 1, 1): bmm hands their gradient back with its rows across.
TEST_F(SingleSampleTest, NothingIsRepeatedForOneSampleSoThatItsGradientLiesAsItWasMade) {
  axis_.stride[mask_] = 128;
  const auto copies = [&](const Sizes& strides, const char* dimensions) {
    const auto node = static_cast<uint32_t>(step_.nodes.size());
    step_.nodes.push_back({Text("RepeatBackward0"), kNone, 12, 120, 140});
    const uint32_t op = Call("aten::sum", kNone, 121, 125);
    step_.ops[op].node = node, step_.ops[op].dims = Text(dimensions);
    Add(mask_, {4, 2, 8, 8}, strides);
    const uint32_t sum = Long(122, 150);
    step_.blocks[sum].op = op;
    Add(sum, {2, 8, 8}, {64, 8, 1}, true);
    const uint32_t reshape = Call("aten::reshape", kNone, 141, 145);
    Add(sum, {1, 8, 2, 8}, {128, 8, 64, 1});
    const uint32_t copy = Long(142, 190);
    step_.blocks[copy].op = reshape;
    Add(copy, {1, 8, 16}, {128, 16, 1}, true);
    return std::pair(CopiedForSamples(step_, axis_, sum) == mask_,
                     CopiedForSamples(step_, axis_, copy) == sum);
  };
  EXPECT_EQ(copies({128, 64, 1, 8}, "[0]"), std::pair(true, true));
  EXPECT_EQ(copies({128, 64, 8, 1}, "[0]"), std::pair(true, false)) << "heads behind rows are copied still";
  EXPECT_EQ(copies({128, 64, 1, 8}, "[1]"), std::pair(false, false)) << "repeated in another dimension";
  axis_.stride[mask_] = 64;
  EXPECT_EQ(copies({128, 64, 1, 8}, "[0]"), std::pair(false, false)) << "samples of another size";
}

}  // namespace
}  // namespace vramscope::whatif
