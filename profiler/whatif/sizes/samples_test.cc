// SPDX-License-Identifier: Apache-2.0
// How many samples a step has, and where they lie in each of its inputs.
#include "profiler/whatif/sizes/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using testing::ElementsAre;
using testing::Pair;

struct Input {
  View view;
  uint8_t dtype;
};

// A step with an operator for each of these inputs.
Samples Found(const std::vector<Input>& inputs) {
  const model::Run run;
  const Step bare = BareStep(&run);
  Inserter into(bare, {});
  Position now = 1;
  for (const Input& input : inputs) {
    StepBlock block;
    block.category = classify::Category::kInput;
    const uint32_t handed_over = into.AddBlock(block);
    const uint32_t look = into.Begin("aten::view", model::kNone, model::kNone, now,
                                     {Viewed(into, handed_over, input.view, input.dtype)});
    into.End(look, now + 1, {});
    now += 2;
  }
  return FindSamples(std::move(into).Finish());
}

const Input kIds{{{4, 32}, {32, 1}}, kLong};

TEST(SamplesTest, TheyAreTheFirstDimensionThatMostInputsShare) {
  const Samples found = Found({kIds, {{{4, 8}, {8, 1}}, kFloat}, {{{7, 8}, {8, 1}}, kLong}});
  EXPECT_EQ(found.count, 4);
  EXPECT_THAT(found.inputs, ElementsAre(Pair(0, 32), Pair(1, 8)));
}

// Hunyuan's pictures, in patches, beside the ids of their texts.
TEST(SamplesTest, TheyMayLieBehindEachOther) {
  const auto inputs = [](const View& patches, uint8_t dtype) {
    return Found({kIds, {patches, dtype}}).inputs;
  };
  EXPECT_THAT(inputs({{64, 768}, {768, 1}}, kFloat), ElementsAre(Pair(0, 32), Pair(1, 16 * 768)));
  EXPECT_THAT(inputs({{64, 768}, {768, 1}}, kLong), ElementsAre(Pair(0, 32))) << "positions";
  EXPECT_THAT(inputs({{62, 768}, {768, 1}}, kFloat), ElementsAre(Pair(0, 32)));
  EXPECT_THAT(inputs({{64, 4}, {4, 1}}, kFloat), ElementsAre(Pair(0, 32))) << "which of them is not known";
}

// NaViT packs the patches of all pictures into one row.
TEST(SamplesTest, TheyMayBePackedIntoOneRow) {
  const auto inputs = [](const View& patches, uint8_t dtype) {
    return Found({kIds, {patches, dtype}}).inputs;
  };
  const View packed{{1, 3, 14, 3584}, {150528, 50176, 3584, 1}};
  EXPECT_THAT(inputs(packed, kFloat), ElementsAre(Pair(0, 32), Pair(1, 896)));
  EXPECT_THAT(inputs(packed, kLong), ElementsAre(Pair(0, 32)));
  EXPECT_THAT(inputs({{1, 3, 14, 3582}, {150444, 50148, 3582, 1}}, kFloat), ElementsAre(Pair(0, 32)));
  EXPECT_THAT(inputs({{1, 64, 64}, {4096, 64, 1}}, kFloat), ElementsAre(Pair(0, 32)))
      << "which dimension is not known";
}

// Questions [8, 32] and `passages` of 64 words with their kinds, in tables of so many words; the two kinds
// have a table of their own.
Samples FoundTexts(int64_t passages, int64_t words_of_questions, int64_t words_of_passages) {
  const model::Run run;
  const Step bare = BareStep(&run);
  Inserter into(bare, {});
  Position now = 1;
  const auto look_up = [&](int64_t rows, const View& ids) {
    StepBlock table, handed_over;
    table.category = classify::Category::kParameter, handed_over.category = classify::Category::kInput;
    const Operand weight = Viewed(into, into.AddBlock(table), {{rows, 16}, {16, 1}}, kFloat);
    const Operand words = Viewed(into, into.AddBlock(handed_over), ids, kLong);
    const uint32_t look = into.Begin("aten::embedding", model::kNone, model::kNone, now, {weight, words});
    into.End(look, now + 1, {});
    now += 2;
  };
  look_up(words_of_questions, {{8, 32}, {32, 1}});
  look_up(words_of_passages, {{passages, 64}, {64, 1}});
  look_up(2, {{passages, 64}, {64, 1}});
  return FindSamples(std::move(into).Finish());
}

// DPR reads a question, and a passage that answers it beside one that does not.
TEST(SamplesTest, TheyAreWhatSeveralTextsAreReadForEach) {
  const Samples found = FoundTexts(16, 1000, 1000);
  EXPECT_EQ(found.count, 8);
  EXPECT_THAT(found.inputs, ElementsAre(Pair(1, 32), Pair(3, 2 * 64), Pair(5, 2 * 64)));
  EXPECT_EQ(FoundTexts(16, 1000, 30).count, 16) << "numbers of other things, as many by chance";
  EXPECT_EQ(FoundTexts(15, 1000, 1000).count, 15) << "not as many for each";
}

// VISTA3D is asked for four organs in four scans, whose places have numbers of such: [1, 4, 9] == [4, 1, 1].
TEST(SamplesTest, ClassesThatAllPlacesAreHeldAgainstAreNone) {
  const auto inputs = [](const View& places, const View& names) {
    const model::Run run;
    const Step bare = BareStep(&run);
    Inserter into(bare, {});
    StepBlock given;
    given.category = classify::Category::kInput;
    const Operand left = Viewed(into, into.AddBlock(given), places, kLong);
    const Operand right = Viewed(into, into.AddBlock(given), names, kLong);
    const Operand scans = Viewed(into, into.AddBlock(given), {{4, 9}, {9, 1}}, kFloat);
    const uint32_t look = into.Begin("aten::view", model::kNone, model::kNone, 1, {scans});
    into.End(look, 2, {});
    const uint32_t held = into.Begin("aten::eq", model::kNone, model::kNone, 3, {left, right});
    into.End(held, 4, {});
    return FindSamples(std::move(into).Finish()).inputs;
  };
  const View list{{4, 1, 1}, {1, 1, 1}};
  EXPECT_THAT(inputs({{1, 4, 9}, {36, 9, 1}}, list), ElementsAre(Pair(2, 9))) << "they are its second ones";
  EXPECT_THAT(inputs({{4, 4, 9}, {36, 9, 1}}, list), ElementsAre(Pair(2, 9), Pair(0, 36), Pair(1, 1)))
      << "one for each sample";
}

}  // namespace
}  // namespace vramscope::whatif
