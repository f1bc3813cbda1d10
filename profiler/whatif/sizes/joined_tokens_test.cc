// SPDX-License-Identifier: Apache-2.0
// Tokens that stand beside those of the sequence. The oracles are CPM-Ant with 40 tokens of 8 that are
// learned and 32 words, twice as many of which are 72, VisualBERT's 8 regions of a picture behind its words,
// and InstructBLIP's 32 vectors that are learned and 16 words, twice as many of which are 64.
#include "profiler/whatif/sizes/joined_tokens.h"

#include <gtest/gtest.h>

#include "profiler/whatif/sizes/sequence.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

class JoinedTokensTest : public testing::Test {
 protected:
  static constexpr uint32_t kWords = 0, kPrompt = 1, kFirstMade = 2;
  struct Call {
    const char* name;
    std::vector<std::pair<uint32_t, View>> given;
    View result;                                          // a block of its own
    std::vector<std::pair<uint32_t, View>> indices = {};  // of the aten::index around it
  };

  const View words_{{4, 32}, {32, 1}}, prompt_{{4, 8}, {8, 1}}, joined_{{4, 40}, {40, 1}};

  [[nodiscard]] whatif::Step Written(const std::vector<Call>& calls, uint8_t prompt = 0) {
    const whatif::Step bare = BareStep(&run_);
    Inserter into(bare, {});
    StepBlock input;
    input.category = classify::Category::kInput;
    (void)into.AddBlock(input);
    if (prompt == 0) input.category = classify::Category::kParameter;
    input.requested = learned_ * 4;
    (void)into.AddBlock(input);
    Position at = 0;
    const auto call = [&](const char* name, const std::vector<Operand>& given,
                          const std::vector<Operand>& made, uint32_t around = model::kNone) {
      const uint32_t op = into.Begin(name, around, model::kNone, ++at, given);
      into.End(op, ++at, made);
    };
    const auto seen = [&](uint32_t block, const View& view, uint8_t type) {
      return Viewed(into, block, view, type);
    };
    call("aten::view", {seen(kWords, words_, kLong)}, {});
    if (prompt != 0) call("aten::view", {seen(kPrompt, {{4, 8, 16}, {128, 16, 1}}, prompt)}, {});
    for (const auto& [name, given, result, indices] : calls) {
      uint32_t index = model::kNone;
      if (!indices.empty()) {
        std::vector<Operand> all;
        for (const auto& [of, view] : indices) {
          all.push_back(seen(of, view, kFloat));
          all.back().element = static_cast<uint16_t>(all.size());
        }
        index = into.Begin("aten::index", model::kNone, model::kNone, ++at, all);
      }
      StepBlock made;
      made.begin = at + 1.5;
      made.op = static_cast<uint32_t>(into.step().ops.size());
      int64_t elements = 1;
      for (const int64_t size : result.shape) elements *= size;
      made.requested = static_cast<uint64_t>(elements) * 4;
      const uint32_t block = into.AddBlock(made);
      std::vector<Operand> operands;
      for (const auto& [of, view] : given) operands.push_back(seen(of, view, kFloat));
      call(name, operands, {seen(block, result, kFloat)}, index);
      if (index != model::kNone) into.End(index, ++at, {});
    }
    return std::move(into).Finish();
  }

  // Of the blocks that were made, in elements, with so many words.
  [[nodiscard]] std::vector<uint64_t> Elements(const std::vector<Call>& calls, int64_t words) {
    const whatif::Step step = Written(calls);
    const whatif::Step longer = AtLength(step, FollowSequence(step).value(), words);
    std::vector<uint64_t> elements;
    for (size_t i = 0; i < calls.size(); ++i) elements.push_back(longer.blocks[kFirstMade + i].requested / 4);
    return elements;
  }

  uint64_t learned_ = 0;  // elements of what is learned

  [[nodiscard]] Call Joined() const { return {"aten::cat", {{kPrompt, prompt_}, {kWords, words_}}, joined_}; }

 private:
  model::Run run_;
};

TEST_F(JoinedTokensTest, WordsThatAreLearnedAreAsManyForAnyLength) {
  const View rows{{4, 40, 1}, {40, 1, 1}}, columns{{4, 1, 40}, {40, 40, 1}};
  const View pairs{{4, 40, 40}, {1600, 40, 1}};
  const std::vector<Call> calls = {Joined(),
                                   {"aten::eq", {{kFirstMade, rows}, {kFirstMade, columns}}, pairs},
                                   // 160 of 4 samples are 5 times 32 tokens too
                                   {"aten::exp", {{kFirstMade, {{160}, {1}}}}, {{160}, {1}}}};
  using Numbers = std::vector<uint64_t>;
  EXPECT_EQ(Elements(calls, 64), (Numbers{4 * 72, 4 * 72 * 72, 4 * 72}));
  EXPECT_EQ(Elements(calls, 16), (Numbers{4 * 24, 4 * 24 * 24, 4 * 24}));
}

// Whichever direction was found first.
TEST_F(JoinedTokensTest, BothDirectionsInOneDimensionAreCountedOneAfterTheOther) {
  const View rows{{4, 40, 1}, {40, 1, 1}}, columns{{4, 1, 40}, {40, 40, 1}};
  const View pairs{{4, 40, 40}, {1600, 40, 1}}, flat{{6400}, {1}};
  for (const bool first : {false, true}) {
    const Call eq{
        "aten::eq", {{kFirstMade, first ? rows : columns}, {kFirstMade, first ? columns : rows}}, pairs};
    const auto elements = Elements({Joined(), eq, {"aten::exp", {{kFirstMade + 1, flat}}, flat}}, 64);
    EXPECT_EQ(elements.back(), 4u * 72 * 72) << first;
  }
}

// A vector that is learned, for each word but the last.
TEST_F(JoinedTokensTest, WhatIsExpandedToOneWordLessHasAsMany) {
  const View but_last{{4, 31, 8}, {248, 8, 1}}, spread{{4, 31, 8}, {0, 0, 1}};
  const Call last{"aten::exp", {{kWords, {{4, 31, 1}, {32, 1, 1}}}}, {{4, 31, 1}, {31, 1, 1}}};
  const Call of_words{"aten::relu", {{kFirstMade, {{4, 31, 1}, {31, 1, 1}}}}, {{4, 31, 1}, {31, 1, 1}}};
  const auto elements = [&](const View& view) {
    return Elements({last, of_words, {"aten::exp", {{kPrompt, view}}, but_last}}, 64).back();
  };
  EXPECT_EQ(elements(spread), 4u * 63 * 8);
  EXPECT_EQ(elements(but_last), 4u * 31 * 8) << "of its own";
}

// kinds[rows[:, None], tokens[None, :]]: the rows are written out for each token.
TEST_F(JoinedTokensTest, AnIndexThatIsExpandedToThemHasAsMany) {
  const View rows{{4, 1}, {8, 8}}, spread{{4, 40}, {8, 0}}, tokens{{1, 40}, {40, 1}};
  const auto elements = [&](const std::vector<std::pair<uint32_t, View>>& indices) {
    return Elements({Joined(), {"aten::clone", {{kPrompt, spread}}, joined_, indices}}, 64).back();
  };
  EXPECT_EQ(elements({{kPrompt, rows}, {kFirstMade, tokens}}), 4u * 72);
  EXPECT_EQ(elements({{kPrompt, rows}, {kPrompt, tokens}}), 4u * 40) << "of something else";
}

TEST_F(JoinedTokensTest, APartOfThemHasTheWordsOrTheOthers) {
  const View words{{4, 32}, {40, 1}}, others{{4, 8}, {40, 1}};
  const auto elements = Elements({Joined(),
                                  {"aten::exp", {{kFirstMade, words}}, words_},
                                  {"aten::exp", {{kFirstMade, others}}, prompt_},
                                  {"aten::slice_backward", {{kFirstMade + 1, words_}}, joined_}},
                                 64);
  EXPECT_EQ(elements, (std::vector<uint64_t>{4 * 72, 4 * 64, 4 * 8, 4 * 72}));
}

// logits[:, :-1].contiguous(), and F.pad(labels, (0, 1)).
TEST_F(JoinedTokensTest, OneMoreOrLessAreAsManyLonger) {
  const View seen{{4, 39}, {40, 1}}, moved{{4, 39}, {39, 1}}, room{{4, 41}, {41, 1}}, flat{{156}, {1}};
  const auto elements = Elements({Joined(),
                                  {"aten::clone", {{kFirstMade, seen}}, moved},
                                  {"aten::exp", {{kFirstMade + 1, flat}}, flat},
                                  {"aten::constant_pad_nd", {{kFirstMade, joined_}}, room},
                                  {"aten::clone", {{kFirstMade + 3, {{4, 40}, {41, 1}, 1}}}, joined_}},
                                 64);
  EXPECT_EQ(elements, (std::vector<uint64_t>{4 * 72, 4 * 71, 4 * 71, 4 * 73, 4 * 72}));
}

TEST_F(JoinedTokensTest, WhatThereAreAsManyOfMayBeASecondSequence) {
  const View twice{{4, 64}, {64, 1}};
  const Call call{"aten::cat", {{kPrompt, words_}, {kWords, words_}}, twice};
  EXPECT_EQ(Elements({call}, 64), std::vector<uint64_t>{4 * 128});
}

// 64 are twice 32: what is learned, and what is made of it alone, is as many for any length.
TEST_F(JoinedTokensTest, VectorsThatAreLearnedMayBeAMultipleOfTheWords) {
  learned_ = 64;
  const View expanded{{4, 64}, {0, 1}}, twice{{4, 64}, {64, 1}}, all{{4, 96}, {96, 1}};
  const Call normed{"aten::mul", {{kPrompt, twice}, {kPrompt, twice}}, twice};
  const auto joined = [&](uint32_t of, const View& view) {
    return Call{"aten::cat", {{of, view}, {kWords, words_}}, all};
  };
  EXPECT_EQ(Elements({joined(kPrompt, expanded)}, 64), std::vector<uint64_t>{4 * 128});
  learned_ = 4 * 64;
  EXPECT_EQ(Elements({normed, joined(kFirstMade, twice)}, 64).back(), 4u * 128);
  learned_ = 4 * 96;
  EXPECT_EQ(Elements({joined(kPrompt, expanded)}, 64), std::vector<uint64_t>{4 * 192})
      << "as much of a table as there are words";
}

// What is made of joined[:, :64], and joined with the words once more.
TEST_F(JoinedTokensTest, WhatIsMadeOfTheOthersIsJoinedAgainAsOthers) {
  learned_ = 64;
  const View expanded{{4, 64}, {0, 1}}, twice{{4, 64}, {64, 1}}, all{{4, 96}, {96, 1}};
  const View others{{4, 64}, {96, 1}};
  const auto elements = Elements({{"aten::cat", {{kPrompt, expanded}, {kWords, words_}}, all},
                                  {"aten::exp", {{kFirstMade, others}}, twice},
                                  {"aten::cat", {{kFirstMade + 1, twice}, {kWords, words_}}, all}},
                                 64);
  EXPECT_EQ(elements, (std::vector<uint64_t>{4 * 128, 4 * 64, 4 * 128}));
}

// cat((ones(vectors.shape[:2]), mask), 1), ahead of the vectors themselves.
TEST_F(JoinedTokensTest, AMaskOfThoseThatAreLearnedIsJoinedAsTheyAre) {
  learned_ = 64;
  const View expanded{{4, 64}, {0, 1}}, twice{{4, 64}, {64, 1}}, all{{4, 96}, {96, 1}};
  const Call ones{"aten::ones", {}, twice};
  const Call mask{"aten::cat", {{kFirstMade, twice}, {kWords, words_}}, all};
  const Call joined{"aten::cat", {{kPrompt, expanded}, {kWords, words_}}, all};
  EXPECT_EQ(Elements({ones, mask, joined}, 64)[1], 4u * 128);
  EXPECT_EQ(Elements({ones, mask}, 64)[1], 4u * 192) << "there are none";
}

// T5's zeros(1, heads, words, keys), which stand for distances to what is not among the words.
TEST_F(JoinedTokensTest, ATableOfWordsAndAllThatWereJoinedHasBoth) {
  const Call zeros{"aten::zeros", {}, {{1, 4, 32, 40}, {5120, 1280, 40, 1}}};
  EXPECT_EQ(Elements({Joined(), zeros}, 64).back(), 4u * 64 * 72);
}

TEST_F(JoinedTokensTest, AsManyThatAreLearnedAsWordsAreNotToldApart) {
  learned_ = 32;
  const Call call{"aten::cat", {{kPrompt, {{4, 32}, {0, 1}}}, {kWords, words_}}, {{4, 64}, {64, 1}}};
  const Result<BatchAxis> axis = FollowSequence(Written({call}));
  ASSERT_FALSE(axis.ok());
  EXPECT_EQ(axis.error().sentence,
            "the recorded step joins the 32 tokens of a sample with as many vectors that are none, and one "
            "length does not tell them apart: record with another length.");
}

// Norms of 32 features of a picture: what they return is made by empty(), inside, and says where its words
// are.
TEST_F(JoinedTokensTest, ASizeOfTheModelIsDoubtfulWhereNothingElseTells) {
  learned_ = 32;
  const View weight{{32}, {1}}, rows{{4, 32}, {32, 1}};
  const Call normed{"aten::layer_norm", {{kPrompt, weight}}, weight};  // weights of 32
  const auto followed = [&](bool around) {
    const whatif::Step step = Written({normed});
    Inserter into(step, {});
    StepBlock made;
    made.begin = 100.5;
    const uint32_t block = into.AddBlock(made);
    const uint32_t norm = into.Begin("aten::native_layer_norm", model::kNone, model::kNone, 99,
                                     {Viewed(into, kPrompt, rows, kFloat)});
    const uint32_t empty = into.Begin("aten::empty", norm, model::kNone, 100, {});
    into.End(empty, 101, {Viewed(into, block, rows, kFloat)});
    into.End(norm, 102, around ? std::vector{Viewed(into, block, rows, kFloat)} : std::vector<Operand>{});
    return FollowSequence(std::move(into).Finish());
  };
  EXPECT_TRUE(followed(true).ok());
  ASSERT_FALSE(followed(false).ok());
  EXPECT_EQ(followed(false).error().sentence,
            "a new tensor of the recorded step has a dimension of 32, which is the length of the sequence "
            "and a size of the model too: record with another length.");
}

// Kosmos-2: the first word, an image, the other words.
TEST_F(JoinedTokensTest, WhatStandsBetweenWordsIsBesideThemToo) {
  const View first{{4, 1}, {32, 1}}, others{{4, 31}, {32, 1}, 1};
  EXPECT_EQ(Elements({{"aten::cat", {{kWords, first}, {kPrompt, prompt_}, {kWords, others}}, joined_}}, 64),
            std::vector<uint64_t>{4 * 72});
  EXPECT_NE(
      Elements({{"aten::cat", {{kWords, others}, {kPrompt, prompt_}, {kWords, others}}, {{4, 70}, {70, 1}}}},
               64),
      std::vector<uint64_t>{4 * 102})
      << "the same words again";
}

// _expand_mask() of transformers' Kosmos-2: a mask of keys, copied for each query.
TEST_F(JoinedTokensTest, WhatIsCopiedForEachOfThemHasThemTwice) {
  const View spread{{4, 1, 40, 40}, {40, 40, 0, 1}}, pairs{{4, 1, 40, 40}, {1600, 1600, 40, 1}};
  EXPECT_EQ(Elements({Joined(), {"aten::_to_copy", {{kFirstMade, spread}}, pairs}}, 64).back(), 4u * 72 * 72);
  const View heads{{4, 40, 12}, {40, 1, 0}}, copied{{4, 40, 12}, {480, 12, 1}};
  EXPECT_EQ(Elements({Joined(), {"aten::_to_copy", {{kFirstMade, heads}}, copied}}, 64).back(), 4u * 72 * 12);
}

// Decision transformers: a return, a state and an action of each step of a run.
TEST_F(JoinedTokensTest, WhatIsMadeForSeveralWordsOfEachTokenBecomesLonger) {
  const View words{{4, 32, 3, 8}, {768, 24, 8, 1}}, rows{{4, 96, 8}, {768, 8, 1}}, zeros{{4, 96}, {96, 1}};
  const Call copied{"aten::exp", {{kWords, {{4, 32, 3, 8}, {32, 1, 0, 0}}}}, words};
  const Call seen{"aten::exp", {{kFirstMade, rows}}, rows};
  EXPECT_EQ(Elements({copied, seen, {"aten::zeros", {}, zeros}}, 64).back(), 4u * 192);
  EXPECT_EQ(Elements({copied, {"aten::zeros", {}, zeros}}, 64).back(), 4u * 96);
}

TEST_F(JoinedTokensTest, SumsOfRowsCountThemToo) {
  const View rows{{160, 8}, {8, 1}}, scores{{4, 40, 8}, {320, 8, 1}};
  whatif::Step step = Written({Joined(),
                               {"aten::exp", {{kFirstMade, {{4, 40, 8}, {40, 1, 0}}}}, scores},
                               {"aten::sum", {{kFirstMade + 1, rows}}, {{8}, {1}}}});
  step.ops.back().dims = TextOf(step, "[0]");
  const BatchAxis axis = FollowSequence(step).value();
  ASSERT_EQ(axis.reductions.size(), 1u);
  EXPECT_EQ(WithBatch(axis.reductions[0].reduction, 64).dimensions[0].size, 4 * 72);
}

// LFM3's short convolutions: a kernel of 7 with room for 6 on both sides, of which the last 6 are cut off.
TEST_F(JoinedTokensTest, RoomAtTheSidesOfAConvolutionIsThatOfItsKernel) {
  const View columns{{4, 5, 32}, {160, 32, 1}}, made{{4, 5, 38}, {190, 38, 1}};
  const auto elements = [&](int64_t kernel) {
    return Elements({{"aten::exp", {{kWords, {{4, 5, 32}, {32, 0, 1}}}}, columns},
                     {"aten::_convolution",
                      {{kFirstMade, columns}, {kPrompt, {{5, 1, kernel}, {kernel, kernel, 1}}}},
                      made}},
                    64)
        .back();
  };
  EXPECT_EQ(elements(7), 4u * 5 * 70);
  EXPECT_NE(elements(6), 4u * 5 * 70) << "it is longer for another reason";
}

TEST_F(JoinedTokensTest, IntegersAreTheTokensWhereAPictureHasRegions) {
  EXPECT_EQ(FollowSequence(Written({}, kFloat))->batch, 32);
  EXPECT_EQ(FollowSequence(Written({}, kLong))->batch, 8) << "the first of several";
}

}  // namespace
}  // namespace vramscope::whatif
