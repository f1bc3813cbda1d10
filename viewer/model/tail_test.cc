// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/tail.h"

#include <gtest/gtest.h>

namespace vramscope::viewer {
namespace {

TEST(TailTest, WhatGrowsIsReadAgainOnceASecondAndIsLiveUntilItIsFinished) {
  Tail tail;
  EXPECT_FALSE(tail.ShouldLook(0));  // nothing was read yet
  tail.Loaded(10, 1000, 0.1, false);
  EXPECT_TRUE(tail.ShouldLook(10));
  EXPECT_FALSE(tail.Grown(10, 1000));
  EXPECT_FALSE(tail.live(10));
  EXPECT_FALSE(tail.ShouldLook(10.2));
  EXPECT_FALSE(tail.Grown(10.5, 2000));  // too soon after the last read
  EXPECT_TRUE(tail.live(10.5));
  EXPECT_TRUE(tail.Grown(11, 2000));  // and not forgotten
  tail.Loaded(11.1, 2000, 0.1, true);
  EXPECT_FALSE(tail.ShouldLook(99));
  EXPECT_FALSE(tail.live(11.1));
}

TEST(TailTest, WhatTakesLongIsReadLessOften) {
  Tail tail;
  tail.Loaded(10, 1000, 5, false);
  EXPECT_FALSE(tail.Grown(19.9, 2000));
  EXPECT_TRUE(tail.Grown(20, 2000));
}

TEST(TailTest, ARecorderThatDiedIsNotLive) {
  Tail tail;
  tail.Loaded(10, 1000, 0, false);
  (void)tail.Grown(12, 2000);
  tail.Loaded(12, 2000, 0, false);
  EXPECT_TRUE(tail.live(13));
  EXPECT_FALSE(tail.live(30));
  EXPECT_TRUE(tail.ShouldLook(30));  // the writer may still continue
}

}  // namespace
}  // namespace vramscope::viewer
