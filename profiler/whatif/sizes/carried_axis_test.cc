// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/carried_axis.h"

#include <gtest/gtest.h>

#include <array>

#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// Two inputs, and an operator that is given views of them; kNone: nothing is known of that argument.
class CarriedAxisTest : public testing::Test {
 protected:
  static constexpr uint32_t kResult = 2;

  // `inner`: an operator that it calls makes its result.
  [[nodiscard]] Step Written(const char* name, const View& first, uint8_t dtype, const View& second,
                             const std::vector<std::pair<uint32_t, View>>& given, const View& result,
                             const char* inner = nullptr) {
    const Step bare = BareStep(&run_);
    Inserter into(bare, {});
    const auto seen = [&](uint32_t block, const View& view, uint8_t type) {
      return Viewed(into, block, view, type);
    };
    StepBlock block;
    block.category = classify::Category::kInput;
    (void)into.AddBlock(block), (void)into.AddBlock(block);
    StepBlock made;
    made.begin = 6;
    (void)into.AddBlock(made);
    const uint32_t look =
        into.Begin("aten::view", kNone, kNone, 1, {seen(0, first, dtype), seen(1, second, kFloat)});
    into.End(look, 2, {});
    std::vector<Operand> operands;
    for (const auto& [of, view] : given) operands.push_back(seen(of, view, of == 0 ? dtype : kFloat));
    const uint32_t op = into.Begin(name, kNone, kNone, 5, operands);
    if (inner != nullptr)
      into.End(into.Begin(inner, op, kNone, 5.5, {}), 6.5, {seen(kResult, result, kFloat)});
    into.End(op, 7, {seen(kResult, result, kFloat)});
    return std::move(into).Finish();
  }

  model::Run run_;
};

// cdist(boxes, things), and chances[:, kinds]: of each sample 3 boxes, and 4 things, each of its kind.
TEST_F(CarriedAxisTest, RowsOfOneAgainstRowsOfAnotherCompareSamples) {
  const View boxes{{36, 12}, {12, 1}}, things{{48, 12}, {12, 1}}, kinds{{48}, {1}}, all{{36, 48}, {48, 1}};
  const auto places = [&](const char* name, const View& second, const View& result) {
    const Step step =
        Written(name, {{12, 36}, {36, 1}}, kFloat, {{12, 48}, {48, 1}}, {{0, boxes}, {1, second}}, result);
    BatchAxis axis;
    axis.batch = 12, axis.stride = {36, second.shape.size() == 1 ? 4u : 48u, 0}, axis.second.resize(3);
    PlacesOfAxis found = {144, 0};
    AddAcross(step, axis, step.ops[1], OutputsOf(step, step.ops[1])[0], {false, false, false}, found);
    return found;
  };
  EXPECT_EQ(places("aten::cdist", things, all), (PlacesOfAxis{144, 4}));
  EXPECT_EQ(places("aten::index", kinds, all), (PlacesOfAxis{144, 4}));
  EXPECT_EQ(places("aten::mul", kinds, all), (PlacesOfAxis{144, 0}));
  EXPECT_EQ(places("aten::index", kinds, things), (PlacesOfAxis{144, 0})) << "rows are picked";
}

// gather(table, 1, index): of the table four rows belong to a sample, of the index one.
TEST_F(CarriedAxisTest, WhatIsGatheredHasTheShapeOfItsIndex) {
  const View table{{48, 9}, {9, 1}}, index{{48, 64}, {64, 1}};
  const auto stride = [&](const char* name) {
    return FollowBatch(Written(name, {{12, 36}, {36, 1}}, kFloat, {{12, 64}, {64, 1}},
                               {{0, table}, {kNone, {}}, {1, index}}, index))
        ->stride[kResult];
  };
  EXPECT_EQ(stride("aten::gather"), 64u);
  EXPECT_EQ(stride("aten::where"), 4u * 64) << "the first that shows it";
}

// As many tokens, two of each sample, as there are words: the kinds of the tokens stand in no column.
TEST_F(CarriedAxisTest, TheGradientOfChancesHasTheSamplesWhereTheChancesHave) {
  const View chances{{24, 24}, {24, 1}}, kinds{{24}, {1}};
  const BatchAxis axis =
      FollowBatch(Written("aten::nll_loss_backward", {{12, 48}, {48, 1}}, kFloat, {{12, 2}, {2, 1}},
                          {{kNone, {}}, {0, chances}, {1, kinds}}, chances))
          .value();
  EXPECT_EQ(axis.stride[kResult], 48u);
  EXPECT_EQ(axis.second[kResult], 0u);
}

// Four windows of each sample, and before them the sample's first token, which repeat() has put in another
// order.
TEST_F(CarriedAxisTest, WhatIsJoinedHasTheSamplesWhereMostOfItHas) {
  const View token{{48, 1, 64}, {64, 64, 1}}, windows{{48, 9, 64}, {576, 64, 1}};
  const View joined{{48, 10, 64}, {640, 64, 1}};
  EXPECT_EQ(FollowBatch(Written("aten::cat", {{12, 64}, {64, 1}}, kFloat, {{12, 2304}, {2304, 1}},
                                {{0, token}, {1, windows}}, joined))
                ->stride[kResult],
            4u * 640);
}

// keys [4, 64, 32] of 64 tokens, or of 32 in the place of the features, and zeros [4, 32, 32].
TEST_F(CarriedAxisTest, WhatIsMultipliedWithFeaturesHasNoTokensThere) {
  const View keys{{4, 64, 32}, {2048, 32, 1}}, zeros{{4, 32, 32}, {1024, 32, 1}};
  const Step step = Written("aten::bmm", keys, kFloat, zeros, {{0, keys}, {1, zeros}}, keys);
  BatchAxis axis;
  axis.stride = {32, 32, 0}, axis.second = {0, 1, 0};
  axis.element = {4, 4, 4}, axis.beside = {0, 0, 0};
  const auto multiplies = [&] { return MultipliesFeatures(step, axis, step.ops[1]); };
  EXPECT_TRUE(multiplies());
  axis.second[0] = 1;
  EXPECT_FALSE(multiplies()) << "scores of tokens and tokens";
  axis.second[0] = 0, axis.stride[1] = 1, axis.second[1] = 0;
  EXPECT_FALSE(multiplies()) << "the columns are tokens";
}

// The gradient [4, 38, 256] of 6 words of an image and of 32 tokens behind them, in one row, times a weight.
TEST_F(CarriedAxisTest, WhatStandsBesideTheTokensAloneHasNone) {
  const View joined{{4, 38, 256}, {9728, 256, 1}}, weight{{256, 512}, {512, 1}};
  const auto carried = [&](int64_t rows) {
    const Step step = Written("aten::mm", joined, kFloat, weight, {{0, {{rows, 256}, {256, 1}}}, {1, weight}},
                              {{rows, 512}, {512, 1}});
    BatchAxis axis;
    axis.batch = 32, axis.stride = {256, 0, 0}, axis.second = {0, 0, 0};
    axis.element = {4, 4, 4}, axis.beside = {6, 0, 0};
    return CarryThroughProduct(step, axis, step.ops[1], OutputsOf(step, step.ops[1])[0]);
  };
  EXPECT_EQ(carried(6), PlacesOfAxis{});
  EXPECT_EQ(carried(38), (PlacesOfAxis{512, 0}));
}

// vectors [4 samples, 4 heads, 64, 64] as [4 heads, 256, 64], and randn(4 heads, 64, 8) for all samples.
TEST_F(CarriedAxisTest, AsManyMatricesAsSamplesAreNotAlwaysOneForEach) {
  const View vectors{{4, 256, 64}, {64, 256, 1}}, turned{{4, 64, 8}, {512, 8, 1}};
  const View heads{{4, 256, 8}, {2048, 8, 1}};
  const Step step = Written("aten::bmm", vectors, kFloat, turned, {{0, vectors}, {1, turned}}, heads);
  BatchAxis axis;
  axis.stride = {16384, 512, 0}, axis.second = {0, 0, 0}, axis.element = {4, 4, 4};
  const auto by_chance = [&](std::vector<bool> sized) {
    return SizedByChance(step, axis, step.ops[1], sized);
  };
  EXPECT_EQ(by_chance({false, true, false}), 1u);
  EXPECT_EQ(by_chance({false, false, false}), kNone) << "it was followed there";
  axis.stride[0] = 64;
  EXPECT_EQ(by_chance({false, true, false}), kNone) << "the other one has the samples there too";
}

// Instance norm of 12 samples with 8 channels: statistics of each channel of each sample; batch norm has one
// of each channel.
TEST_F(CarriedAxisTest, StatisticsOfAnInstanceNormHaveTheSamples) {
  const View image{{12, 8, 4, 4}, {128, 16, 4, 1}}, joined{{1, 96, 4, 4}, {1536, 16, 4, 1}};
  const auto stride = [&](const char* name, const View& normed, const View& statistics) {
    Step step = Written(name, image, kFloat, image, {{0, normed}}, statistics);
    for (Operand& operand : step.operands) operand.argument = operand.block == kResult ? 1 : 0;
    return FollowBatch(std::move(step))->stride[kResult];
  };
  const View samples{{96}, {1}}, channels{{8}, {1}};
  EXPECT_EQ(stride("aten::native_batch_norm", joined, samples), 8u);
  EXPECT_EQ(stride("aten::native_batch_norm_backward", joined, samples), 8u);
  EXPECT_EQ(stride("aten::native_batch_norm", image, channels), 0u);
  EXPECT_EQ(stride("aten::native_batch_norm", joined, channels), 0u) << "of something else";
  EXPECT_EQ(stride("aten::native_layer_norm_backward", joined, samples), 0u) << "a weight's gradient";
}

// Pixtral's patches: those of all images are one sequence, and full((48, 48)) keeps them apart.
TEST_F(CarriedAxisTest, AMaskOfWhatSamplesHaveBehindOneAnotherHasThemTwice) {
  const View image{{12, 4, 8}, {32, 8, 1}}, queries{{1, 1, 48, 8}, {384, 384, 8, 1}};
  const auto places = [&](const char* name, const View& mask) {
    whatif::Step step = Written(name, image, kFloat, image,
                                {{0, queries}, {0, queries}, {0, queries}, {kResult, mask}}, queries);
    for (uint16_t i = 0; i < 4; ++i) step.operands[step.ops[1].first_input + i].argument = i;
    step.operands[step.ops[1].first_output].block = kNone;
    const BatchAxis axis = FollowBatch(step).value();
    return PlacesOfAxis{axis.stride[kResult], axis.second[kResult]};
  };
  const View mask{{1, 1, 48, 48}, {2304, 2304, 48, 1}}, keys{{1, 1, 1, 48}, {48, 48, 48, 1}};
  EXPECT_EQ(places("aten::scaled_dot_product_attention", mask), (PlacesOfAxis{4 * 48, 4}));
  EXPECT_EQ(places("aten::scaled_dot_product_attention", keys), (PlacesOfAxis{4, 0})) << "of all queries";
  EXPECT_EQ(places("aten::addcmul", mask), (PlacesOfAxis{}));
}

TEST_F(CarriedAxisTest, SumsOfRowsHaveTheSamplesThatLieBehindOneAnother) {
  const View image{{12, 4, 8}, {32, 8, 1}}, queries{{1, 48, 1, 8}, {384, 8, 8, 1}};
  const Step step = Written("aten::_efficient_attention_forward", image, kFloat, image, {{0, queries}},
                            {{1, 1, 48}, {48, 48, 1}});
  EXPECT_EQ(FollowBatch(step)->stride[kResult], 4u);
}

// A convolution without cuDNN works on one sample after the other: seven rows of 640.
TEST_F(CarriedAxisTest, ColumnsAreThoseOfOneSample) {
  const auto stride = [&](const char* name) {
    const View image{{12, 640}, {640, 1}};
    whatif::Step step =
        Written(name, image, kFloat, image, {{0, image}}, {{7, 640}, {640, 1}}, "aten::empty");
    step.operands[step.ops[1].first_output].block = kNone;  // it hands them to nobody
    StepBlock& columns = step.blocks[kResult];
    columns.op = 2, columns.requested = 7 * 640 * 4, columns.end = 6.9;
    return FollowBatch(step)->stride[kResult];
  };
  EXPECT_EQ(stride("aten::_slow_conv2d_forward"), 0u);
  EXPECT_EQ(stride("aten::slow_conv_dilated2d"), 0u);
  EXPECT_NE(stride("aten::median"), 0u);
}

// coordinates.repeat(12, 1, 1, 1).to(device), made on the CPU.
TEST_F(CarriedAxisTest, ACopyOfWhatTheCpuMadeForEachSampleGrows) {
  const View image{{12, 8, 4, 4}, {128, 16, 4, 1}}, points{{12, 2, 4, 4}, {32, 16, 4, 1}};
  const auto stride = [&](const char* name, uint32_t of, const View& from, const View& made) {
    return FollowBatch(Written(name, image, kFloat, image, {{of, from}}, made, "aten::empty_strided"))
        ->stride[kResult];
  };
  EXPECT_EQ(stride("aten::_to_copy", kNone, points, points), 32u);
  const View table{{2, 4, 4}, {16, 4, 1}};
  EXPECT_EQ(stride("aten::_to_copy", kNone, table, table), 0u) << "the same for all samples";
  EXPECT_EQ(stride("aten::mul", kNone, points, points), 0u);
}

// masked_fill(keys expanded to queries, mask of queries and keys): it clones the keys in an operator of its
// own.
class OuterTest : public testing::Test {
 protected:
  static constexpr uint32_t kIds = 0, kKeys = 1, kMask = 2, kMade = 3;

  [[nodiscard]] Step Written(const char* outer, const View& mask, const View& result) {
    const Step bare = BareStep(&run_);
    Inserter into(bare, {});
    const auto seen = [&](uint32_t block, const View& view, uint8_t type = kFloat) {
      return Viewed(into, block, view, type);
    };
    StepBlock block;
    block.category = classify::Category::kInput;
    (void)into.AddBlock(block);
    for (const double begin : {1.5, 2.5, 6.5}) block = {}, block.begin = begin, (void)into.AddBlock(block);
    const View ids{{3, 32}, {32, 1}}, keys{{3, 32, 32}, {32, 0, 1}}, scores{{3, 32, 32}, {1024, 32, 1}};
    const auto call = [&](const char* name, double at, const std::vector<Operand>& from, const Operand& to) {
      into.End(into.Begin(name, kNone, kNone, at, from), at + 1, {to});
    };
    call("aten::view", 0, {seen(kIds, ids, kLong)}, seen(kIds, ids, kLong));
    call("aten::exp", 1, {seen(kIds, ids)}, seen(kKeys, ids));
    call("aten::eq", 2, {seen(kKeys, {{3, 32, 1}, {32, 1, 0}}), seen(kKeys, {{3, 1, 32}, {32, 0, 1}})},
         seen(kMask, scores));
    const uint32_t op = into.Begin(outer, kNone, kNone, 5, {seen(kKeys, keys), seen(kMask, mask)});
    into.End(into.Begin("aten::clone", op, kNone, 6, {seen(kKeys, keys)}), 7, {seen(kMade, scores)});
    into.End(op, 8, {seen(kMade, result)});
    return std::move(into).Finish();
  }
  [[nodiscard]] const model::Run* RunOf() const { return &run_; }
  [[nodiscard]] PlacesOfAxis Places(const Step& step) {
    const BatchAxis axis = FollowSequence(step).value();
    return {axis.stride[kMade], axis.second[kMade]};
  }

 private:
  model::Run run_;
};

TEST_F(OuterTest, WhatAnInnerOperatorMadeHasTokensOfTheOthersToo) {
  const View scores{{3, 32, 32}, {1024, 32, 1}};
  EXPECT_EQ(Places(Written("aten::masked_fill", scores, scores)), (PlacesOfAxis{1, 32}));
  const View keys{{3, 1, 32}, {1024, 32, 1}};
  EXPECT_EQ(Places(Written("aten::masked_fill", keys, scores)), (PlacesOfAxis{1, 0})) << "these have none";
}

// reshape() of one to the other: a size that is the same by chance.
TEST_F(OuterTest, ButNotWhereTheResultHasOtherDimensions) {
  EXPECT_EQ(Places(Written("aten::reshape", {{3, 32, 4, 8}, {1024, 32, 8, 1}}, {{96, 32}, {32, 1}})),
            (PlacesOfAxis{1, 0}));
}

// x[:, 32:], whose gradient is put into zeros of all 96.
// -logsigmoid(labels * (text @ audio.T)).sum(): PyTorch makes the gradient's memory like that of the sum,
// which is one number for all.
TEST_F(CarriedAxisTest, WhatIsLaidOutLikeOneNumberComparesSamplesAsTheOtherOperandDoes) {
  const View scores{{12, 12}, {12, 1}}, number{{12, 12}, {0, 0}};
  const auto places = [&](const View& compared, uint64_t second) {
    const Step step = Written("aten::log_sigmoid_backward", {{12, 64}, {64, 1}}, kFloat, {{12, 12}, {12, 1}},
                              {{0, number}, {1, compared}}, scores, "aten::empty_like");
    BatchAxis axis;
    axis.stride = {0, 12, 12}, axis.second = {0, second, 0};
    const Op& op = step.ops[1];
    return PlacesOfCompared(step, axis, op, OutputsOf(step, op)[0]);
  };
  EXPECT_EQ(places(scores, 1), (PlacesOfAxis{12, 1}));
  EXPECT_EQ(places(scores, 0), PlacesOfAxis{}) << "samples against something else";
  EXPECT_EQ(places({{12, 12}, {1, 12}}, 1), PlacesOfAxis{});
}

TEST_F(CarriedAxisTest, TheGradientOfASliceIsAsLongAsWhatWasCut) {
  const View input{{3, 32, 1}, {32, 1, 1}}, cut{{3, 32, 8}, {256, 8, 1}}, whole{{3, 96, 8}, {768, 8, 1}};
  const auto stride = [&](const char* name) {
    return FollowSequence(Written(name, input, kFloat, cut, {{1, cut}}, whole))->stride[kResult];
  };
  EXPECT_EQ(stride("aten::slice_backward"), 8u);
  EXPECT_EQ(stride("aten::select_backward"), 0u);
}

// Four letters become one word: 32 of them are 8.
TEST_F(CarriedAxisTest, WindowsThatLieApartAreFewerTokens) {
  const View input{{3, 32, 1}, {32, 1, 1}}, letters{{3, 32, 8}, {256, 8, 1}}, across{{3, 8, 32}, {256, 1, 8}};
  const auto stride = [&](const char* name, const View& words) {
    return FollowSequence(Written(name, input, kFloat, letters, {{1, across}}, words))->stride[kResult];
  };
  const View words{{3, 8, 8}, {64, 8, 1}};
  EXPECT_EQ(stride("aten::convolution", words), 1u);
  EXPECT_EQ(stride("aten::max_pool1d_with_indices", words), 1u);
  EXPECT_EQ(stride("aten::cat", words), 0u);
}

// Three pictures of 64 x 4 in one row, cut into patches of 4 x 4: 16 of each.
TEST_F(CarriedAxisTest, PatchesOfPicturesInOneRowAreThoseOfEachPicture) {
  const View ids{{3, 32}, {32, 1}}, row{{1, 1, 4, 192}, {768, 768, 192, 1}};
  const auto stride = [&](const View& filter, const View& patches) {
    Step step = Written("aten::convolution", ids, kLong, row, {{1, row}, {kNone, filter}}, patches);
    return FollowBatch(step)->stride[kResult];
  };
  const View patches{{1, 8, 1, 48}, {384, 48, 48, 1}};
  EXPECT_EQ(stride({{8, 1, 4, 4}, {16, 16, 4, 1}}, patches), 16u);
  EXPECT_EQ(stride({{8, 1, 4, 6}, {24, 24, 6, 1}}, patches), 0u) << "windows that overlap lie in two of them";
}

// torch.tensor(frequencies).reshape(-1, 1).to(device), a number for each sample.
TEST_F(OuterTest, WhatIsCopiedFromTheHostHasTheBatchWhereItIsMadeAsIfItHad) {
  const auto stride = [&](const View& copied) {
    const Step bare = BareStep(RunOf());
    Inserter into(bare, {});
    const auto seen = [&](uint32_t block, const View& view) { return Viewed(into, block, view, kLong); };
    StepBlock block;
    block.category = classify::Category::kInput;
    (void)into.AddBlock(block);
    block = {}, block.begin = 6.5, block.op = 2;
    (void)into.AddBlock(block);
    const View ids{{12, 32}, {32, 1}};
    into.End(into.Begin("aten::view", kNone, kNone, 1, {seen(0, ids)}), 2, {seen(0, ids)});
    const uint32_t copy = into.Begin("aten::_to_copy", kNone, kNone, 5, {seen(kNone, copied)});
    into.End(into.Begin("aten::empty_strided", copy, kNone, 6, {}), 7, {seen(1, copied)});
    into.End(copy, 8, {seen(1, copied)});
    return FollowBatch(std::move(into).Finish())->stride[1];
  };
  EXPECT_EQ(stride({{12, 1}, {1, 1}}), 1u);
  EXPECT_EQ(stride({{32, 1}, {1, 1}}), 0u);
}

// hidden.view(8, 8, 3, 4).max(dim=2): 8 heads look as 8 samples do where dimensions are counted from the
// last.
TEST_F(CarriedAxisTest, WhatTheGradientOfAMaximumIsScatteredToHasTheDimensionAgain) {
  const whatif::Step bare = BareStep(&run_);
  Inserter into(bare, {});
  StepBlock block;
  block.category = classify::Category::kInput;
  const uint32_t given = into.AddBlock(block);
  block.category = classify::Category::kTemporaryForward, block.begin = 6;
  const uint32_t made = into.AddBlock(block);
  const Operand input = Viewed(into, given, {{8, 8, 4}, {32, 4, 1}}, kFloat),
                whole = Viewed(into, made, {{8, 8, 3, 4}, {96, 12, 4, 1}}, kFloat);
  into.End(into.Begin("aten::view", model::kNone, model::kNone, 1, {input}), 2, {});
  const uint32_t outer =
      into.Begin("aten::value_selecting_reduction_backward", model::kNone, model::kNone, 5, {input});
  const uint32_t inner = into.Begin("aten::scatter_", outer, model::kNone, 7,
                                    {whole, Viewed(into, given, {{8, 8, 1, 4}, {32, 4, 4, 1}}, kFloat)});
  into.End(inner, 8, {whole});
  into.End(outer, 9, {whole});
  EXPECT_EQ(FollowBatch(std::move(into).Finish())->stride[made], 96u);
}

// (x[:, None] - x).max(dim=1): the gradient of what compares samples with each other does.
TEST_F(CarriedAxisTest, WhatTheGradientOfAMaximumIsScatteredToComparesSamplesAsThatDid) {
  const whatif::Step bare = BareStep(&run_);
  Inserter into(bare, {});
  StepBlock block;
  block.category = classify::Category::kInput;
  const uint32_t given = into.AddBlock(block);
  block.category = classify::Category::kTemporaryForward;
  const auto add = [&](Position begin) { return block.begin = begin, into.AddBlock(block); };
  const uint32_t pairs = add(2.5), most = add(4.5), made = add(6);
  const Operand column = Viewed(into, given, {{8, 1}, {1, 1}}, kFloat),
                row = Viewed(into, given, {{8}, {1}}, kFloat),
                compared = Viewed(into, pairs, {{8, 8}, {8, 1}}, kFloat),
                largest = Viewed(into, most, {{8}, {1}}, kFloat),
                whole = Viewed(into, made, {{8, 8}, {8, 1}}, kFloat);
  into.End(into.Begin("aten::sub", model::kNone, model::kNone, 2, {column, row}), 3, {compared});
  const uint32_t max = into.Begin("aten::max", model::kNone, model::kNone, 4, {compared});
  into.End(max, 5, {largest});
  const uint32_t outer =
      into.Begin("aten::value_selecting_reduction_backward", model::kNone, 0, 5.5, {largest});
  const uint32_t inner =
      into.Begin("aten::scatter_", outer, 0, 7, {whole, Viewed(into, most, {{8, 1}, {1, 1}}, kFloat)});
  into.End(inner, 8, {whole});
  into.End(outer, 9, {whole});
  whatif::Step step = std::move(into).Finish();
  step.nodes.push_back({0, max, 4.2, 5.4, 9.5});
  const auto& axis = FollowBatch(step);
  EXPECT_EQ(axis->stride[made], 8u);
  EXPECT_EQ(axis->second[made], 1u);
}

}  // namespace
}  // namespace vramscope::whatif
