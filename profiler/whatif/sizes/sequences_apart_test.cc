// SPDX-License-Identifier: Apache-2.0
// Two sequences in one step. The oracle is Pix2Struct with 32 patches of a page and 32 words about it, 32 of
// which stay as many with twice the words; a T5 whose heads are as wide as its sequences are long; and UDOP,
// with boxes of its words and labels of another length.
#include <gtest/gtest.h>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/sizes/sequence.h"
#include "profiler/whatif/sizes/tokens.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

class SequencesApartTest : public testing::Test {
 protected:
  static constexpr uint32_t kWords = 0, kPatches = 1, kPlaces = 2, kTable = 3, kFirstMade = 4;
  struct Call {
    const char* name;
    std::vector<std::pair<uint32_t, View>> given;
    View result;  // a block of its own
    uint16_t argument = 0;
    uint32_t into = model::kNone;  // a block that was made before, and that it writes into
  };

  const View ids_{{4, 32}, {32, 1}}, rows_{{4, 32, 16}, {512, 16, 1}}, columns_{{4, 16, 32}, {512, 1, 16}};
  const View table_{{1000, 16}, {16, 1}}, pairs_{{4, 32, 32}, {1024, 32, 1}};
  const Call words_{"aten::embedding", {{kTable, table_}, {kWords, ids_}}, rows_};
  static constexpr uint32_t kEmbedded = kFirstMade;
  // Labels of 12 tokens, in the place of places.
  const View written_{{4, 12}, {12, 1}}, written_rows_{{4, 12, 16}, {192, 16, 1}};
  const Call zeros_{"aten::zeros", {}, written_};
  const Call shown_{
      "aten::copy_", {{kFirstMade + 1, written_}, {kPlaces, written_}}, written_, 0, kFirstMade + 1};
  bool labels_ = false;

  // `patches`: so many, and a place for each.
  [[nodiscard]] Step Written(const std::vector<Call>& calls, int64_t patches = 32) {
    Step bare;
    bare.run = &run_;
    bare.shapes.push_back({});
    Inserter into(bare, {});
    for (const uint32_t block : {kWords, kPatches, kPlaces, kTable}) {
      StepBlock given;
      given.category = block == kTable ? classify::Category::kParameter : classify::Category::kInput;
      (void)into.AddBlock(given);
    }
    Position at = 0;
    std::vector<std::pair<size_t, uint16_t>> results;
    const auto call = [&](const char* name, std::vector<Operand> given, std::vector<Operand> made) {
      const uint32_t op = into.Begin(name, model::kNone, model::kNone, ++at, std::move(given));
      into.End(op, ++at, std::move(made));
    };
    call("aten::view", {Viewed(into, kWords, ids_, kLong)}, {});
    call("aten::view", {Viewed(into, kPatches, {{4, patches, 16}, {patches * 16, 16, 1}}, kFloat)}, {});
    if (patches != 32)
      call("aten::view", {Viewed(into, kPlaces, {{4, patches, 2}, {patches * 2, 2, 1}}, kFloat)}, {});
    if (labels_) call("aten::view", {Viewed(into, kPlaces, written_, kLong)}, {});
    for (const Call& one : calls) {
      StepBlock made;
      made.begin = at + 1.5;
      int64_t elements = 1;
      for (const int64_t size : one.result.shape) elements *= size;
      made.requested = static_cast<uint64_t>(elements) * 4;
      const uint32_t block = one.into == model::kNone ? into.AddBlock(made) : one.into;
      std::vector<Operand> given;
      for (const auto& [of, view] : one.given)
        given.push_back(Viewed(into, of, view, of == kWords ? kLong : kFloat));
      call(one.name, given, {Viewed(into, block, one.result, kFloat)});
      results.emplace_back(into.step().ops.size() - 1, one.argument);
    }
    Step step = std::move(into).Finish();
    for (const auto& [op, argument] : results) step.operands[step.ops[op].first_output].argument = argument;
    return step;
  }

  // Of the blocks that were made, in elements, with 64 words.
  [[nodiscard]] std::vector<uint64_t> Longer(const std::vector<Call>& calls) {
    const Step step = Written(calls);
    const Step longer = AtLength(step, FollowSequence(step).value(), 64);
    std::vector<uint64_t> elements;
    for (uint32_t i = kFirstMade; i < longer.blocks.size(); ++i)
      elements.push_back(longer.blocks[i].requested / 4);
    return elements;
  }

 private:
  model::Run run_;
};

using Numbers = std::vector<uint64_t>;

TEST_F(SequencesApartTest, FeaturesThatTheWordsOnlyLookAtAreAnotherOne) {
  const Call seen{"aten::exp", {{kPatches, rows_}}, rows_};
  const Call scores{"aten::bmm", {{kEmbedded, rows_}, {kFirstMade + 1, columns_}}, pairs_};
  EXPECT_EQ(Longer({words_, seen, scores}), (Numbers{4 * 64 * 16, 4 * 32 * 16, 4 * 64 * 32}));
}

TEST_F(SequencesApartTest, FeaturesOfTheWordsAreTheSameOne) {
  const Call seen{"aten::exp", {{kPatches, rows_}}, rows_};
  const Call sum{"aten::add", {{kEmbedded, rows_}, {kFirstMade + 1, rows_}}, rows_};
  EXPECT_EQ(Longer({words_, seen, sum}), (Numbers{4 * 64 * 16, 4 * 64 * 16, 4 * 64 * 16}));
}

// UDOP's boxes of words, whose distances are added to attention's scores.
TEST_F(SequencesApartTest, FeaturesThatAreAddedToTheWordsInPlaceAreTheSameOne) {
  const Call seen{"aten::exp", {{kPatches, rows_}}, rows_};
  const Call sum{"aten::add_", {{kEmbedded, rows_}, {kFirstMade + 1, rows_}}, rows_, 0, kEmbedded};
  EXPECT_EQ(Longer({words_, seen, sum}), (Numbers{4 * 64 * 16, 4 * 64 * 16}));
}

TEST_F(SequencesApartTest, FeaturesThatAreAddedToKeysInPlaceAreAnotherOne) {
  const Call seen{"aten::exp", {{kPatches, rows_}}, rows_};
  const Call biases{"aten::exp", {{kPatches, {{4, 1, 32}, {512, 512, 16}}}}, {{4, 1, 32}, {32, 32, 1}}};
  const Call scores{"aten::bmm", {{kEmbedded, rows_}, {kFirstMade + 1, columns_}}, pairs_};
  const Call sum{"aten::add_",
                 {{kFirstMade + 3, pairs_}, {kFirstMade + 2, {{4, 1, 32}, {32, 32, 1}}}},
                 pairs_,
                 0,
                 kFirstMade + 3};
  EXPECT_EQ(Longer({words_, seen, biases, scores, sum}),
            (Numbers{4 * 64 * 16, 4 * 32 * 16, 4 * 32, 4 * 64 * 32}));
}

TEST_F(SequencesApartTest, FeaturesThatStandBehindTheWordsInOneTensorStayAsMany) {
  const Call seen{"aten::exp", {{kPatches, rows_}}, rows_};
  const Call copied{"aten::copy_", {{kEmbedded, rows_}, {kFirstMade + 1, rows_}}, rows_, 0, kEmbedded};
  EXPECT_EQ(Longer({words_, seen, copied}), (Numbers{4 * 64 * 16, 4 * 32 * 16}));
}

// VisualBERT with as many words as parts of a picture.
TEST_F(SequencesApartTest, FeaturesThatAreJoinedWithTheWordsStayAsMany) {
  const View joined{{4, 64, 16}, {1024, 16, 1}};
  const Call cat{"aten::cat", {{kEmbedded, rows_}, {kPatches, rows_}}, joined};
  const Call behind{"aten::exp", {{kFirstMade + 1, joined}}, joined};
  EXPECT_EQ(Longer({words_, cat, behind}), (Numbers{4 * 64 * 16, 4 * 96 * 16, 4 * 96 * 16}));
}

TEST_F(SequencesApartTest, AttentionReturnsRowsOfItsQuery) {
  const View heads{{4, 32, 1, 16}, {512, 16, 16, 1}};
  const auto attention = [&](uint32_t query, uint32_t keys) {
    return Call{"aten::_efficient_attention_forward", {{query, heads}, {keys, heads}, {keys, heads}}, heads};
  };
  EXPECT_EQ(Longer({words_, attention(kEmbedded, kPatches)}).back(), 4u * 64 * 16);
  EXPECT_EQ(Longer({words_, attention(kPatches, kEmbedded)}).back(), 4u * 32 * 16);
}

TEST_F(SequencesApartTest, AGradientHasTheRowsOfWhatItIsOf) {
  const View heads{{4, 32, 1, 16}, {512, 16, 16, 1}};
  const auto gradient = [&](uint16_t of) {
    return Call{"aten::_efficient_attention_backward",
                {{kEmbedded, heads}, {kEmbedded, heads}, {kPatches, heads}, {kPatches, heads}},
                heads,
                of};
  };
  EXPECT_EQ(Longer({words_, gradient(0)}).back(), 4u * 64 * 16);
  EXPECT_EQ(Longer({words_, gradient(1)}).back(), 4u * 32 * 16);
}

TEST_F(SequencesApartTest, HeadsThatAreAsWideAsItIsLongStayAsWide) {
  const View heads{{4, 32, 1, 32}, {1024, 32, 32, 1}}, sums{{4, 1, 32}, {32, 32, 1}};
  const Call wide{"aten::exp", {{kWords, {{4, 32, 1, 32}, {32, 1, 1, 0}}}}, heads};
  const Call rows{"aten::exp", {{kWords, {{4, 1, 32}, {32, 32, 1}}}}, sums};
  std::vector<std::pair<uint32_t, View>> given(6, {kFirstMade, heads});
  given.emplace_back(kFirstMade + 1, sums);
  EXPECT_EQ(Longer({wide, rows, {"aten::_efficient_attention_backward", given, heads}}).back(), 4u * 64 * 32);
}

// A decision transformer's, in float32.
TEST_F(SequencesApartTest, AsManyNumbersOfASampleAreAMaskUnlessWeightsAreAsLarge) {
  const Call mask{"aten::exp", {{kPlaces, ids_}}, ids_};
  EXPECT_EQ(Longer({words_, mask}), (Numbers{4 * 64 * 16, 4 * 64}));
  const Call layer{
      "aten::mm", {{kEmbedded, {{128, 16}, {16, 1}}}, {kTable, {{16, 32}, {32, 1}}}}, {{128, 32}, {32, 1}}};
  EXPECT_EQ(Longer({words_, mask, layer}), (Numbers{4 * 64 * 16, 4 * 32, 4 * 64 * 32}));
}

TEST_F(SequencesApartTest, IdsAreTheSequenceHoweverManyOthersAreThere) {
  EXPECT_EQ(FollowSequence(Written({words_}, 8))->batch, 32);
  EXPECT_EQ(FollowSequence(Written({}, 8))->batch, 8) << "numbers that nothing is looked up by";
}

// Molmo2's words, looked up behind ids that stand for an image.
TEST_F(SequencesApartTest, SoAreIdsThatAreJoinedWithOthersBefore) {
  const View joined{{4, 37}, {37, 1}};
  const auto tokens = [&](const char* name) {
    const Call made{name, {{kWords, ids_}}, joined};
    const Call looked_up{
        "aten::embedding", {{kTable, table_}, {kFirstMade, joined}}, {{4, 37, 16}, {592, 16, 1}}};
    return FollowSequence(Written({made, looked_up}, 8))->batch;
  };
  EXPECT_EQ(tokens("aten::cat"), 32);
  EXPECT_EQ(tokens("aten::eq"), 8) << "kinds of them";
}

TEST_F(SequencesApartTest, WhatTheDecoderIsToWriteBecomesLongerByTheSameFactor) {
  labels_ = true;
  const Call looked_up{"aten::embedding", {{kTable, table_}, {kPlaces, written_}}, written_rows_};
  EXPECT_EQ(Longer({words_, looked_up}), (Numbers{4 * 64 * 16, 4 * 24 * 16})) << "in the table of the words";
  const Call moved{"aten::embedding", {{kPatches, table_}, {kFirstMade + 1, written_}}, written_rows_};
  EXPECT_EQ(Longer({words_, zeros_, shown_, moved}), (Numbers{4 * 64 * 16, 4 * 24, 4 * 24 * 16}));
  const Call filled{"aten::masked_fill", {{kPlaces, written_}}, written_};
  EXPECT_EQ(Longer({words_, filled, moved}), (Numbers{4 * 64 * 16, 4 * 24, 4 * 24 * 16}));
}

TEST(TokensTest, ATargetOfOneMoreIsTheSequenceMovedByOne) {
  Tokens tokens;
  tokens.length = 96;
  EXPECT_EQ(tokens.TargetAt(97, 192), 193);
  EXPECT_EQ(tokens.TargetAt(48, 192), 96);
}

TEST_F(SequencesApartTest, WhatIsCopiedForEachTokenOfTheTargetGrowsAsItDoes) {
  labels_ = true;
  const Call looked_up{"aten::embedding", {{kTable, table_}, {kPlaces, written_}}, written_rows_};
  const Call samples{"aten::arange", {}, {{4}, {1}}};
  const Call copied{"aten::clone", {{kFirstMade + 2, {{4, 12}, {1, 0}}}}, written_};
  EXPECT_EQ(Longer({words_, looked_up, samples, copied}), (Numbers{4 * 64 * 16, 4 * 24 * 16, 4, 4 * 24}));
}

TEST_F(SequencesApartTest, IdsOfAnotherTableAreNoTokens) {
  labels_ = true;
  const Call kinds{"aten::embedding", {{kPatches, {{30, 16}, {16, 1}}}, {kPlaces, written_}}, written_rows_};
  EXPECT_EQ(Longer({words_, kinds}), (Numbers{4 * 64 * 16, 4 * 12 * 16}));
}

// DPR reads questions and passages with a model each.
TEST_F(SequencesApartTest, IdsOfATableAsLargeAreWordsThatAnotherModelReads) {
  labels_ = true;
  const Call others{"aten::embedding", {{kPatches, table_}, {kPlaces, written_}}, written_rows_};
  EXPECT_EQ(Longer({words_, others}), (Numbers{4 * 64 * 16, 4 * 24 * 16}));
}

// Pop2Piano's spectra of a song, beside what a piano plays.
TEST_F(SequencesApartTest, InputsOfOtherLengthsAreSaidToStayAsTheyAre) {
  const auto notes = [&](int64_t patches) {
    Scene scene;
    return SequenceLever().Apply(Written({words_}, patches), "2x", scene)->notes.size();
  };
  EXPECT_EQ(notes(8), notes(32) + 1);
}

TEST_F(SequencesApartTest, OneNumberDoesNotTellTwoLengths) {
  labels_ = true;
  const Call looked_up{"aten::embedding", {{kTable, table_}, {kPlaces, written_}}, written_rows_};
  const Step step = Written({words_, looked_up});
  EXPECT_TRUE(SequenceLever().Rewrite(step, "2x")->ok());
  const std::optional<Result<Step>> number = SequenceLever().Rewrite(step, "64");
  ASSERT_FALSE(number->ok());
  EXPECT_NE(number->error().sentence.find("of 32 and of 12 tokens"), std::string::npos);
}

}  // namespace
}  // namespace vramscope::whatif
