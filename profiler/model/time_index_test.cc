// SPDX-License-Identifier: Apache-2.0
// Oracle: a plain array of the times, searched from the front.
#include "profiler/model/time_index.h"

#include <gtest/gtest.h>

#include <random>

namespace vramscope::model {
namespace {

TEST(TimeIndexTest, KnowsTheTimeOfEachEventAndTheLastEventOfEachTime) {
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  TimeIndex index;
  std::vector<uint64_t> times;
  uint64_t now = 1'000;
  for (int i = 0; i < 5'000; ++i) {
    now += random() % 3;
    if (random() % 500 == 0) now += 10'000'000'000;  // a pause longer than 32 bits of nanoseconds
    index.Append(now);
    times.push_back(now);
  }
  for (EventIndex i = 0; i < times.size(); ++i) ASSERT_EQ(index.TimeOf(i), times[i]);
  for (int i = 0; i < 2'000; ++i) {
    const uint64_t time = times[random() % times.size()] + random() % 3 - 1;
    EventIndex expected = kNever;
    for (EventIndex e = 0; e < times.size() && times[e] <= time; ++e) expected = e;
    ASSERT_EQ(index.LastEventAt(time), expected) << time;
  }
  EXPECT_EQ(index.LastEventAt(~uint64_t{0}), times.size() - 1);
  EXPECT_EQ(index.TimeOf(kNever), times.back());
}

TEST(TimeIndexTest, HoldsALateEventAtTheTimeOfTheOneInFront) {
  TimeIndex index;
  EXPECT_TRUE(index.Append(100));
  EXPECT_FALSE(index.Append(90));
  EXPECT_TRUE(index.Append(110));
  EXPECT_EQ(index.TimeOf(1), 100u);
  EXPECT_EQ(index.LastEventAt(105), 1u);
}

TEST(TimeIndexTest, SaysThatNothingCameBeforeTheFirstEvent) {
  TimeIndex index;
  EXPECT_EQ(index.LastEventAt(5), kNever);
  index.Append(10);
  EXPECT_EQ(index.LastEventAt(9), kNever);
}

}  // namespace
}  // namespace vramscope::model
