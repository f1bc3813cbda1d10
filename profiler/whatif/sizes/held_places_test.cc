// SPDX-License-Identifier: Apache-2.0
// Tokens that are places for what is seen of pictures: 20 of 32, in the forms that programs put it there.
#include "profiler/whatif/sizes/held_places.h"

#include <gtest/gtest.h>

#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint32_t kIds = 0, kPictures = 1, kWords = 2, kPlaced = 3;
const View kSequence{{4, 32, 8}, {256, 8, 1}}, kSeen{{4, 20, 8}, {160, 8, 1}}, kMask{{4, 32, 1}, {32, 1, 1}};

class HeldPlacesTest : public testing::Test {
 protected:
  // ids [4, 32] ─ embedding ─ words; pictures ─ `first` ─ placed; `last` of words and of what was placed.
  [[nodiscard]] std::string Why(const char* first, const char* last, const View& pictures,
                                std::vector<uint32_t> given) {
    const Step bare = BareStep(&run_);
    Inserter into(bare, {});
    StepBlock block;
    block.category = classify::Category::kInput;
    (void)into.AddBlock(block);
    block.category = classify::Category::kTemporaryForward;
    for (const Position begin : {1.5, 3.5, 5.5, 7.5}) block.begin = begin, (void)into.AddBlock(block);
    const auto seen = [&](uint32_t of) {
      if (of == kIds) return Viewed(into, kIds, kMask, kLong);
      return Viewed(into, of, of == kPictures ? pictures : kSequence, kFloat);
    };
    Position at = 0;
    const auto call = [&](const char* name, const std::vector<uint32_t>& from, const Operand& to) {
      std::vector<Operand> operands;
      for (const uint32_t of : from) operands.push_back(seen(of));
      const uint32_t op = into.Begin(name, kNone, kNone, at, operands);
      if (to.block != kNone) into.step().blocks[to.block].op = op;
      into.End(op, at + 1, {to});
      at += 2;
    };
    call("aten::view", {kIds}, Viewed(into, kIds, {{4, 32}, {32, 1}}, kLong));
    call("aten::conv2d", {}, seen(kPictures));
    call("aten::embedding", {kIds}, seen(kWords));
    call(first, {kPictures}, seen(kPlaced));
    call(last, given, seen(kWords));
    const Step step = std::move(into).Finish();
    BatchAxis axis;
    axis.batch = 32, axis.stride = {1, 0, 8, 8, 0}, axis.second.resize(5), axis.beside.resize(5);
    return WhyPlacesAreHeld(step, axis);
  }

 private:
  model::Run run_;
};

TEST_F(HeldPlacesTest, OfWhatIsGatheredFromPicturesAndTakenInsteadOfWords) {
  const std::vector<uint32_t> given = {kIds, kPlaced, kWords};
  EXPECT_EQ(
      Why("aten::gather", "aten::where", kSeen, given),
      "some of the 32 tokens of a sample are places for others (aten::where), and how many are words is "
      "not recorded: record with as many words as are wanted.");
  EXPECT_EQ(Why("aten::gather", "aten::add", kSeen, given), "") << "it goes to all of them";
  EXPECT_EQ(Why("aten::mul", "aten::where", kSeen, given), "");
  EXPECT_EQ(Why("aten::gather", "aten::where", {{4, 20, 3}, {60, 3, 1}}, given), "") << "another dimension";
}

TEST_F(HeldPlacesTest, OfWhatIsScatteredAmongWords) {
  const View rows{{80, 8}, {8, 1}};
  for (const char* const name : {"aten::masked_scatter", "aten::index_copy", "aten::index_put"}) {
    EXPECT_NE(Why("aten::relu", name, rows, {kWords, kIds, kPictures}), "") << name;
    EXPECT_EQ(Why("aten::relu", name, rows, {kWords, kIds, kWords}), "") << "they are tokens";
    EXPECT_EQ(Why("aten::relu", name, rows, {kPictures, kIds, kPictures}), "") << "into no tokens";
  }
  EXPECT_EQ(Why("aten::relu", "aten::add", rows, {kWords, kIds, kPictures}), "");
}

}  // namespace
}  // namespace vramscope::whatif
