// SPDX-License-Identifier: Apache-2.0
// The functions of position.h return positions in the documented order.
#include "profiler/whatif/step/position.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace vramscope::whatif {
namespace {

static_assert(sizeof(Position) <= 16);

TEST(PositionTest, WhatIsPutInAroundAnEventIsInTheOrderOfItsStages) {
  const std::vector<Position> ordered = {After(In(Stage::kAgain, 6), 1 << 20),
                                         In(Stage::kAhead, 7),
                                         In(Stage::kEmpties, 7),
                                         In(Stage::kUnpacked, 7),
                                         In(Stage::kReturns, 7),
                                         HooksAfter(7, -1),
                                         Before(7, 2),
                                         Before(7),
                                         Sooner(7),
                                         7,
                                         Later(7),
                                         After(7),
                                         Sooner(After(7, 2)),
                                         After(7, 2),
                                         After(7, kPlaces / 2 - 1),
                                         HooksAfter(7, 1),
                                         After(HooksAfter(7, 1)),
                                         In(Stage::kEmptied, 7),
                                         In(Stage::kUnpacks, 7),
                                         In(Stage::kAgain, 7),
                                         8,
                                         kForever};
  EXPECT_TRUE(std::ranges::is_sorted(ordered, std::less_equal{}));
  EXPECT_LT(After(kBefore, kPlaces / 2), 0);
}

TEST(PositionTest, EventsLaterItIsAtTheSamePlace) {
  const Position at = Later(After(HooksAfter(3, 2)), 5);
  EXPECT_EQ(at + 10 - 10, at);
  EXPECT_EQ((at + 10).event, 13);
  EXPECT_EQ(InItsStep(at + 10, 10), at);
}

TEST(PositionTest, WhatIsComputedAgainIsInTheOrderOfForwardAndBehindWhatIsLessDeep) {
  const std::vector<Position> forward = {
      20, Later(20), After(20), HooksAfter(20, 4), In(Stage::kReturns, 21), Sooner(21), 21, 5'000'020};
  std::vector<Position> ordered = {200};
  for (const uint32_t depth : {0u, 1u, 2u}) {
    for (const Position moment : forward) ordered.push_back(Recomputed(200, depth, 20, moment));
    ordered.push_back(Unwound(200, depth));
  }
  EXPECT_TRUE(std::ranges::is_sorted(ordered, std::less_equal{}));
  EXPECT_LT(ordered.back(), 201);
}

TEST(PositionTest, PartsOfAStretchAreBetweenTheEventsThatTheyFallBetween) {
  EXPECT_EQ(PartOf(10, 20, 5, 20).event, 12) << "12.5";
  EXPECT_LT(PartOf(10, 20, 5, 20), 13);
  for (int64_t part = 0; part < 1'000; ++part)
    ASSERT_LT(PartOf(10, 20, part, 1'000), PartOf(10, 20, part + 1, 1'000)) << part;
  EXPECT_LT(After(10, 500), PartOf(10, 20, 0, 1'000)) << "behind what is put in one after the other";
}

TEST(PositionTest, WhatFollowsAUseEndsWithItOrWithOneEventBetween) {
  EXPECT_TRUE(IsAtOnce(21, In(Stage::kUnpacked, 20)));
  EXPECT_FALSE(IsAtOnce(22, After(20)));
  EXPECT_TRUE(IsSoon(22, 20));
  EXPECT_FALSE(IsSoon(23, 20));
}

}  // namespace
}  // namespace vramscope::whatif
