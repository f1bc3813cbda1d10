// SPDX-License-Identifier: Apache-2.0
// Rows for the tokens of four samples, of which a program makes and picks as many as a number says.
#include "profiler/whatif/sizes/sample_rows.h"

#include <gtest/gtest.h>

#include "profiler/whatif/sizes/samples.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

const View kRows{{40, 6}, {6, 1}};  // of four samples of ten tokens

class SampleRowsTest : public testing::Test {
 protected:
  static constexpr uint32_t kInput = 0, kMade = 1;

  // x [4, 10, 6] ─ view ─ [40, 6]      the operator, given what it is given ─ something new
  [[nodiscard]] uint64_t StrideOf(const char* name, const std::vector<View>& given, const View& made,
                                  int64_t size_of_model = 0) {
    const Step bare = BareStep(&run_);
    Inserter into(bare, {});
    StepBlock block;
    block.category = classify::Category::kInput;
    (void)into.AddBlock(block);
    block.category = classify::Category::kTemporaryForward;
    block.begin = 6;
    (void)into.AddBlock(block);
    block.category = classify::Category::kParameter;
    block.begin = kBefore;
    const uint32_t weight = into.AddBlock(block);
    const View whole{{4, 10, 6}, {60, 6, 1}};
    into.End(into.Begin("aten::view", kNone, kNone, 0, {Viewed(into, kInput, whole, kFloat)}), 1, {});
    into.End(into.Begin(
                 "aten::relu", kNone, kNone, 2,
                 {Viewed(into, kInput, kRows, kFloat), Viewed(into, weight, {{size_of_model}, {1}}, kFloat)}),
             3, {});
    std::vector<Operand> inputs;
    for (const View& view : given) inputs.push_back(Viewed(into, kInput, view, kFloat));
    for (int i = 0; i < numbers_; ++i) inputs.push_back(Viewed(into, Number(into), {{40}, {1}}, kLong));
    into.End(into.Begin(name, kNone, kNone, 5, inputs), 7, {Viewed(into, kMade, made, kFloat)});
    const Step step = std::move(into).Finish();
    const Result<BatchAxis>& axis = FollowBatch(step);
    second_ = axis->second[kMade];
    return axis->stride[kMade];
  }

  // A block of numbers that the CPU made: copied to the device, or left where they are.
  [[nodiscard]] uint32_t Number(Inserter& into) const {
    if (!copied_) return kNone;
    const uint32_t copy =
        into.Begin("aten::_to_copy", kNone, kNone, 3, {Viewed(into, kNone, {{40}, {1}}, kLong)});
    StepBlock block;
    block.begin = 3;
    block.op = copy;
    const uint32_t made = into.AddBlock(block);
    into.End(copy, 4, {Viewed(into, made, {{40}, {1}}, kLong)});
    return made;
  }

  uint64_t second_ = 0;  // of the last one
  int numbers_ = 0;      // so many operands are of the CPU, behind those given
  bool copied_ = false;  // the program copies them first

  model::Run run_;
};

TEST_F(SampleRowsTest, WhatIsMadeWithARowForEachTokenGrows) {
  EXPECT_EQ(StrideOf("aten::zeros", {}, {{40, 3}, {3, 1}}), 30u);
  EXPECT_EQ(StrideOf("aten::zeros", {}, {{40, 3}, {3, 1}}, 40), 0u) << "a size of the model, too";
  EXPECT_EQ(StrideOf("aten::zeros", {}, {{40, 40}, {40, 1}}), 0u) << "a mask of so many tokens";
  EXPECT_EQ(StrideOf("aten::zeros", {}, {{20, 3}, {3, 1}}), 0u) << "no such rows";
}

// -pairs.diagonal().sum(): the gradient of one number, spread over all pairs.
TEST_F(SampleRowsTest, SoDoesOneNumberForEachOfThem) {
  EXPECT_EQ(StrideOf("aten::neg", {{{40}, {0}}}, {{40}, {1}}), 10u);
  EXPECT_EQ(StrideOf("aten::neg", {{{40}, {0}}}, {{40}, {1}}, 40), 0u) << "a size of the model, too";
  EXPECT_EQ(StrideOf("aten::neg", {{{20}, {0}}}, {{20}, {1}}), 0u);
}

// where(mask.expand(40, 1, 5, 5), 0, -inf)
TEST_F(SampleRowsTest, WhatIsExpandedToARowForEachTokenAndWrittenOutGrows) {
  const View made{{40, 1, 5, 5}, {25, 25, 5, 1}};
  EXPECT_EQ(StrideOf("aten::where", {{{40, 1, 5, 5}, {0, 0, 5, 1}}}, made), 250u);
  EXPECT_EQ(StrideOf("aten::where", {{{40, 1, 5, 5}, {0, 0, 5, 1}}}, made, 40), 0u)
      << "a size of the model, too";
  EXPECT_EQ(StrideOf("aten::where", {{{20, 1, 5, 5}, {0, 0, 5, 1}}}, {{20, 1, 5, 5}, {25, 25, 5, 1}}), 0u)
      << "no such rows";
}

// Those that a matrix of 1 compares with each other.
TEST_F(SampleRowsTest, EyeHasThemInBothDirections) {
  EXPECT_EQ(StrideOf("aten::eye", {}, {{40, 40}, {40, 1}}), 400u);
  EXPECT_EQ(second_, 10u);
  EXPECT_EQ(StrideOf("aten::eye", {}, {{40, 40}, {40, 1}}, 40), 0u) << "a size of the model, too";
  EXPECT_EQ(StrideOf("aten::eye", {}, {{4, 4}, {4, 1}}), 4u) << "samples";
  EXPECT_EQ(second_, 1u);
}

TEST_F(SampleRowsTest, WhatIsPickedOfAllTokensIsAShareOfThem) {
  const View scores{{6, 40}, {1, 6}};
  EXPECT_EQ(StrideOf("aten::topk", {scores}, {{6, 20}, {20, 1}}), 5u);
  EXPECT_EQ(StrideOf("aten::topk", {scores}, {{6, 22}, {22, 1}}), 0u) << "samples have no equal parts of it";
  EXPECT_EQ(StrideOf("aten::sort", {scores}, {{6, 20}, {20, 1}}), 0u) << "another operator";
}

// labels[:, None] == labels[None]
TEST_F(SampleRowsTest, WhatComparesSamplesGrowsInBothDirections) {
  const View down{{40, 1}, {6, 0}}, across{{1, 40}, {0, 6}};
  EXPECT_EQ(StrideOf("aten::eq", {down, across}, {{40, 40}, {40, 1}}), 400u);
  EXPECT_EQ(second_, 10u);
  EXPECT_EQ(StrideOf("aten::eq", {down, down}, {{40, 1}, {1, 1}}), 10u);
  EXPECT_EQ(second_, 0u);
  // A gradient for each of them that is spread over those it is compared with; and what has both already.
  const View spread{{40, 40}, {6, 0}}, all{{40, 40}, {0, 6}};
  EXPECT_EQ(StrideOf("aten::mul", {spread, all}, {{40, 40}, {40, 1}}), 400u);
  EXPECT_EQ(second_, 10u);
  // Two layouts of one size are not compared.
  EXPECT_EQ(StrideOf("aten::mul", {{{40, 6}, {6, 1}}, {{40, 40}, {1, 6}}}, {{40, 40}, {40, 1}}), 400u);
  EXPECT_EQ(second_, 0u);
}

// masks[samples, queries], ten of each of the four, and points that are drawn for each of them.
TEST_F(SampleRowsTest, WhatTheCpuHasMatchedWithSamplesIsOfAllOfThem) {
  const View masks{{4, 10, 6}, {60, 6, 1}}, made{{40, 6}, {6, 1}};
  numbers_ = 2;
  EXPECT_EQ(StrideOf("aten::index", {masks}, made), 60u);
  copied_ = true;
  EXPECT_EQ(StrideOf("aten::index", {masks}, made), 60u);
  copied_ = false;
  EXPECT_EQ(StrideOf("aten::index", {{{10, 4, 6}, {6, 60, 1}}}, made), 0u) << "the samples are not first";
  numbers_ = 1;
  EXPECT_EQ(StrideOf("aten::index", {masks}, {{40, 10, 6}, {60, 6, 1}}), 0u) << "whole samples";
  numbers_ = 0;
  EXPECT_EQ(StrideOf("aten::index", {masks, {{40}, {1}}, {{40}, {1}}}, made), 0u)
      << "what the device found may be any number";
}

// An instance norm of four samples of six channels, which are the rows of a batch norm.
TEST_F(SampleRowsTest, WeightsOfAnInstanceNormAreRepeatedForEachSample) {
  const auto stride = [&](const char* around, int64_t rows) {
    const Step bare = BareStep(&run_);
    Inserter into(bare, {});
    StepBlock input, weight, made;
    input.category = classify::Category::kInput;
    weight.category = classify::Category::kParameter, weight.begin = kBefore;
    made.category = classify::Category::kActivation, made.begin = 3;
    const Operand images = Viewed(into, into.AddBlock(input), {{4, 6, 10}, {60, 10, 1}}, kFloat);
    const Operand channels = Viewed(into, into.AddBlock(weight), {{6}, {1}}, kFloat);
    const uint32_t repeated = into.AddBlock(made);
    const uint32_t norm = into.Begin(around, kNone, kNone, 1, {images});
    into.End(into.Begin("aten::repeat", norm, kNone, 2, {channels}), 4,
             {Viewed(into, repeated, {{rows}, {1}}, kFloat)});
    into.End(norm, 9, {});
    const Step step = std::move(into).Finish();
    return FollowBatch(step)->stride[repeated];
  };
  EXPECT_EQ(stride("aten::instance_norm", 24), 6u);
  EXPECT_EQ(stride("aten::instance_norm", 12), 0u) << "of another batch";
  EXPECT_EQ(stride("aten::relu", 24), 0u) << "may be anything";
}

// Graphs one behind the other: nodes [12, 6], edges [40, 6] and [4] answers.
TEST_F(SampleRowsTest, InputsThatAllHaveAMultipleOfTheSamplesAreJoined) {
  const auto samples = [&](int64_t edges) {
    const Step bare = BareStep(&run_);
    Inserter into(bare, {});
    StepBlock block;
    block.category = classify::Category::kInput;
    for (const int64_t rows : {int64_t{12}, edges, edges, int64_t{4}}) {
      const View view{{rows, 6}, {6, 1}};
      const uint32_t input = into.AddBlock(block);
      into.End(into.Begin("aten::view", kNone, kNone, 0, {Viewed(into, input, view, kFloat)}), 1, {});
    }
    return FindSamples(std::move(into).Finish());
  };
  const Samples graphs = samples(40);
  EXPECT_EQ(graphs.count, 4);
  ASSERT_EQ(graphs.inputs.size(), 4u);
  EXPECT_EQ(graphs.inputs[1].second, 60u) << "ten edges of each";
  EXPECT_EQ(samples(41).count, 41) << "no multiples: what most of them have";
}

}  // namespace
}  // namespace vramscope::whatif
