// SPDX-License-Identifier: Apache-2.0
// Cosines [4, 1, 32, 16] beside states [4, 2, 32, 16] of 32 tokens. The oracle is PyTorch's broadcasting:
// dimensions are as large, or one.
#include "profiler/whatif/sizes/asked_axis.h"

#include <gtest/gtest.h>

#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint32_t kStates = 0, kOther = 1, kMade = 2;
const View kTwoHeads = {{4, 2, 32, 16}, {1024, 512, 16, 1}};

class AskedAxisTest : public testing::Test {
 protected:
  struct Meeting {
    const char* name = "aten::mul";
    View states = kTwoHeads, other = {{4, 1, 32, 16}, {512, 512, 16, 1}}, made = kTwoHeads;
    Position begin = 1;         // of the other one
    const char* cut = nullptr;  // an operator that it has been through
    uint64_t place = 16;        // of the tokens in the states, and in what is made
    uint64_t made_place = 16;
    bool sequence = true, sized = false;
    uint64_t own = 0;      // where they are in the other one
    bool indexes = false;  // gather(other, dimension, states)
    bool alone = false;    // of no states
    const char* dimension = nullptr;
    View whole = {{4, 1, 64, 16}, {1024, 1024, 16, 1}};  // that it was cut out of
  };

  // What is asked of the other one.
  std::vector<AskedAxis> Asked(const Meeting& meeting) {
    Inserter into(BareStep(&run_), {});
    for (const Position begin : {Position{1}, meeting.begin, Position{11}}) {
      StepBlock block;
      block.begin = begin, block.end = 90;
      (void)into.AddBlock(block);
    }
    const Operand other = Viewed(into, kOther, meeting.other, kFloat);
    if (meeting.cut != nullptr)
      into.End(into.Begin(meeting.cut, kNone, kNone, 5, {Viewed(into, kOther, meeting.whole, kFloat)}), 6,
               {other});
    const Operand states = Viewed(into, kStates, meeting.states, kFloat);
    std::vector<Operand> given{states, other};
    if (meeting.indexes) given = {other, {}, states};
    if (meeting.alone) given = {other};
    const uint32_t op = into.Begin(meeting.name, kNone, kNone, 10, given);
    if (meeting.dimension != nullptr) into.step().ops[op].dims = into.Text(meeting.dimension);
    into.End(op, 12, {Viewed(into, kMade, meeting.made, kFloat)});
    Step step = std::move(into).Finish();
    step.backward.push_back({100, 200});
    BatchAxis axis;
    axis.batch = 32;
    axis.stride = {meeting.place, meeting.own, meeting.made_place}, axis.second = {0, 0, 0};
    axis.element = {4, 4, 4}, axis.beside = {0, 0, 5};
    axis.sized = {false, false, meeting.sized};
    return AskedOfOperands(step, axis, meeting.sequence);
  }

 private:
  model::Run run_;
};

TEST_F(AskedAxisTest, WhatMeetsTokensInADimensionOfAsManyHasThemToo) {
  const auto asked = Asked({});
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].block, kOther);
  EXPECT_EQ(asked[0].places, (PlacesOfAxis{16, 0}));
  EXPECT_EQ(asked[0].beside, 5);
  EXPECT_EQ(asked[0].element, 4);
}

TEST_F(AskedAxisTest, WhatIsTheSameForAllTokensHasNot) {
  EXPECT_TRUE(Asked({.other = {{4, 1, 1, 16}, {16, 16, 16, 1}}}).empty());
  EXPECT_TRUE(Asked({.other = {{4, 1, 32, 16}, {16, 16, 0, 1}}}).empty()) << "expanded";
  EXPECT_TRUE(Asked({.name = "aten::gather", .indexes = true}).empty()) << "of as many buckets by chance";
}

TEST_F(AskedAxisTest, TablesMayBeLongerThanTheSequence) {
  EXPECT_TRUE(Asked({.begin = kBefore}).empty());
  EXPECT_TRUE(Asked({.cut = "aten::slice"}).empty());
  EXPECT_EQ(Asked({.cut = "aten::slice", .whole = {{4, 1, 32, 16}, {512, 512, 16, 1}}}).size(), 1u)
      << "x[:, -tokens:] of as many";
  const View wide{{4, 1, 32, 64}, {2048, 2048, 64, 1}}, part{{4, 1, 32, 16}, {2048, 2048, 64, 1}};
  EXPECT_EQ(Asked({.other = part, .cut = "aten::slice", .whole = wide}).size(), 1u) << "in another dimension";
  EXPECT_FALSE(Asked({.cut = "aten::cos"}).empty());
}

// [8, 24, 16] x [8, 16, 32], of 32 keys.
TEST_F(AskedAxisTest, RowsOfAProductAreThoseOfItsFirstFactorAndColumnsOfItsSecond) {
  const View keys = {{8, 16, 32}, {512, 32, 1}}, rows = {{8, 24, 16}, {384, 16, 1}},
             scores = {{8, 24, 32}, {768, 32, 1}};
  const auto asked = Asked({"aten::bmm", rows, keys, scores, 1, nullptr, 0, 1});
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].block, kOther);
  EXPECT_EQ(asked[0].places, (PlacesOfAxis{1, 0}));
}

// table[positions], of 32 positions that were numbered.
TEST_F(AskedAxisTest, AnIndexHasTheTokensOfWhatIsLookedUpByIt) {
  const View table = {{1000, 16}, {16, 1}}, positions = {{32}, {1}}, rows = {{32, 16}, {16, 1}};
  const auto asked = Asked({"aten::embedding", table, positions, rows, 1, nullptr, 0, 16});
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].block, kOther);
  EXPECT_EQ(asked[0].places, (PlacesOfAxis{1, 0}));
}

// x[places], of 40 tokens and 32 places that nonzero() found.
TEST_F(AskedAxisTest, PlacesHaveTheSamplesOfWhatIsPickedByThem) {
  const View places = {{32}, {1}}, rows = {{32, 16}, {16, 1}};
  Meeting picked{.name = "aten::index", .states = {{40, 16}, {16, 1}}, .other = places, .made = rows};
  const auto asked = Asked(picked);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].block, kOther);
  EXPECT_EQ(asked[0].places, (PlacesOfAxis{1, 0}));
  picked.states = {{32, 40}, {40, 1}}, picked.made = {{32, 32}, {32, 1}}, picked.made_place = 32;
  EXPECT_TRUE(Asked(picked).empty()) << "x[:, places], of as many columns by chance";
}

// (rows * weights).sum(1), of four rows for each of 32 places.
TEST_F(AskedAxisTest, WhatIsSummedUpHasTheDimensionsThatStay) {
  Meeting sums{.name = "aten::sum", .other = {{32, 4, 16}, {64, 16, 1}}, .made = {{32, 16}, {16, 1}}};
  sums.alone = true, sums.dimension = "1";
  const auto asked = Asked(sums);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].block, kOther);
  EXPECT_EQ(asked[0].places, (PlacesOfAxis{64, 0}));
  sums.other = {{4, 32, 16}, {512, 16, 1}}, sums.dimension = "0";
  EXPECT_EQ(Asked(sums).at(0).places, (PlacesOfAxis{16, 0})) << "behind the one that goes";
  sums.made = {{1, 32, 16}, {512, 16, 1}};
  EXPECT_EQ(Asked(sums).at(0).places, (PlacesOfAxis{16, 0})) << "which may stay as one";
}

// gather(numbers, dim, index), of an index [32, 8] with 32 samples and 64 numbers for each of them.
TEST_F(AskedAxisTest, WhatIsGatheredFromHasTheSamplesOfTheIndexButAlongTheDimension) {
  const View index = {{32, 8}, {8, 1}};
  Meeting gathers{.name = "aten::gather", .states = index, .other = {{32, 64}, {64, 1}}, .made = index};
  gathers.place = gathers.made_place = 8, gathers.sequence = false, gathers.indexes = true;
  gathers.dimension = "1";
  const auto asked = Asked(gathers);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].block, kOther);
  EXPECT_EQ(asked[0].places, (PlacesOfAxis{64, 0}));
  gathers.dimension = "0";
  EXPECT_TRUE(Asked(gathers).empty()) << "of as many numbers by chance";
  gathers.dimension = "-1", gathers.other = {{40, 64}, {64, 1}};
  EXPECT_TRUE(Asked(gathers).empty()) << "it may have more";
  gathers.other = {{32, 64}, {64, 1}}, gathers.sequence = true;
  EXPECT_TRUE(Asked(gathers).empty()) << "which may be for all tokens that the model takes";
}

// The same of 32 samples: a place of their number by chance tells nothing, and one that is known is left.
TEST_F(AskedAxisTest, OfSamplesNoMoreThanOnePlaceIsAsked) {
  EXPECT_FALSE(Asked({.sequence = false}).empty());
  EXPECT_TRUE(Asked({.sequence = false, .sized = true}).empty());
  EXPECT_FALSE(Asked({.sized = true}).empty()) << "of tokens a mask of their number is one of them";
  EXPECT_TRUE(Asked({.sequence = false, .own = 1}).empty());
  EXPECT_FALSE(Asked({.own = 1}).empty()) << "scores have tokens twice";
  EXPECT_TRUE(Asked({.made_place = 8, .sequence = false}).empty()) << "of which 64 would be there";
}

}  // namespace
}  // namespace vramscope::whatif
