// SPDX-License-Identifier: Apache-2.0
// Four samples of ten tokens, each of which goes to one of eight experts, that have room for 20 of all 40.
#include "profiler/whatif/sizes/counted_places.h"

#include <gtest/gtest.h>

#include "profiler/whatif/sizes/sample_turns.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint32_t kExperts = 0, kChosen = 1, kCounted = 2, kSlots = 3, kTable = 4;

class CountedPlacesTest : public testing::Test {
 protected:
  // chosen = one_hot(experts.view(-1), 8); counted = `count`(chosen); `slots` of these.
  [[nodiscard]] Step Write(const char* count, const char* slots, const View& tokens = {{40}, {1}}) {
    const Step bare = BareStep(&run_);
    Inserter into(bare, {});
    StepBlock block;
    block.category = classify::Category::kInput, block.requested = 40 * 8;
    (void)into.AddBlock(block);
    block.category = classify::Category::kTemporaryForward;
    for (const Position begin : {3.5, 5.5, 7.5, 0.2}) {
      block.begin = begin, block.requested = 40 * 8 * 8;
      (void)into.AddBlock(block);
    }
    const Operand experts = Viewed(into, kExperts, {{4, 10}, {10, 1}}, kLong);
    const Operand flat = Viewed(into, kExperts, tokens, kLong);
    Position at = 1;
    const auto call = [&](const char* name, std::vector<Operand> given, const Operand& made) {
      into.End(into.Begin(name, kNone, kNone, at, std::move(given)), at + 1, {made});
      at += 2;
    };
    const auto with = [](View view, int64_t size) {
      for (int64_t& stride : view.strides) stride *= size;
      view.shape.push_back(size);
      view.strides.push_back(1);
      return view;
    };
    call("aten::view", {experts}, flat);
    call("aten::one_hot", {flat}, Viewed(into, kChosen, with(tokens, 8), kLong));
    const Operand counted = Viewed(into, kCounted, with(tokens, 8), kLong);
    call(count, {Viewed(into, kChosen, with(tokens, 8), kLong)}, counted);
    if (std::string_view(slots) == "aten::one_hot") {
      call(slots, {counted}, Viewed(into, kSlots, with(with(tokens, 8), 20), kLong));
    } else {
      const Operand table = Viewed(into, kTable, {{20, 6}, {6, 1}}, kFloat);
      call(slots, {table, counted}, table);
    }
    return std::move(into).Finish();
  }

  [[nodiscard]] static std::string Why(const Step& step) { return WhyRoomUnknown(step, *FollowBatch(step)); }

 private:
  model::Run run_;
};

TEST_F(CountedPlacesTest, HowMuchRoomTheyGetIsNotKnownOfAnotherBatch) {
  const Step step = Write("aten::cumsum", "aten::one_hot");
  EXPECT_NE(Why(step).find("room for 20 of them"), std::string::npos) << Why(step);
  const Result<const BatchAxis*> axis = BatchToScale(step);
  ASSERT_FALSE(axis.ok());
  EXPECT_EQ(axis.error().sentence, Why(step));
}

TEST_F(CountedPlacesTest, NorWhereTheyArePutIntoATable) {
  EXPECT_NE(Why(Write("aten::cumsum", "aten::index_put_")).find("room for 20 of them"), std::string::npos);
  EXPECT_NE(Why(Write("aten::cumsum", "aten::scatter_")), "");
  EXPECT_EQ(Why(Write("aten::cumsum", "aten::gather")), "") << "it is only read";
}

TEST_F(CountedPlacesTest, ClassesAreSettingsOfTheProgram) {
  const Step step = Write("aten::sub", "aten::one_hot");
  EXPECT_EQ(Why(step), "");
  EXPECT_EQ(FollowBatch(step)->stride[kSlots], 10u * 8 * 20) << "for each token, and no more classes";
  EXPECT_EQ(FollowBatch(step)->second[kSlots], 0u);
}

TEST_F(CountedPlacesTest, TokensOfEachSampleThatAreCountedForThemselvesHaveTheSameRoom) {
  const Step step = Write("aten::cumsum", "aten::one_hot", {{4, 10}, {10, 1}});
  EXPECT_EQ(Why(step), "");
  const Result<BatchAxis> tokens = FollowSequence(step);
  ASSERT_TRUE(tokens.ok());
  EXPECT_NE(WhyRoomUnknown(step, *tokens, Counted::kAtAll), "") << "of more tokens in each that is not known";
}

}  // namespace
}  // namespace vramscope::whatif
