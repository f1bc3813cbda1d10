// SPDX-License-Identifier: Apache-2.0
#include "injector/nvtx/open_ranges.h"

#include <gtest/gtest.h>

#include <thread>

#include "injector/core/test_session.h"

namespace vramscope::injector::nvtx {
namespace {

const Domain kA = "a";
const Domain kB = "b";

int Push(Domain domain, uint32_t name) {
  bool recorded = false;
  return PushRange(domain, name, recorded);
}

TEST(NvtxOpenRangesTest, PopEndsTheInnermostRangeAndTellsItsLevel) {
  EXPECT_EQ(Push(nullptr, 1), 0);
  EXPECT_EQ(Push(nullptr, 2), 1);
  Popped popped = PopRange(nullptr);
  EXPECT_EQ(popped.name, 2u);
  EXPECT_EQ(popped.level, 1);
  popped = PopRange(nullptr);
  EXPECT_EQ(popped.name, 1u);
  EXPECT_EQ(popped.level, 0);
  popped = PopRange(nullptr);
  EXPECT_EQ(popped.name, 0u);
  EXPECT_EQ(popped.level, kNoTracking);
}

TEST(NvtxOpenRangesTest, DomainsAreStacksOfTheirOwn) {
  EXPECT_EQ(Push(kA, 1), 0);
  EXPECT_EQ(Push(kB, 2), 0);
  EXPECT_EQ(Push(kA, 3), 1);
  EXPECT_EQ(PopRange(kB).name, 2u);
  EXPECT_EQ(PopRange(kB).level, kNoTracking);
  EXPECT_EQ(PopRange(kA).name, 3u);
  EXPECT_EQ(PopRange(kA).name, 1u);
}

TEST(NvtxOpenRangesTest, ThreadsHaveTheirOwnRanges) {
  Push(nullptr, 1);
  std::thread([] { EXPECT_EQ(PopRange(nullptr).level, kNoTracking); }).join();
  EXPECT_EQ(PopRange(nullptr).name, 1u);
}

TEST(NvtxOpenRangesTest, RangesThatAreTooDeepAreCountedAndNotRecorded) {
  bool recorded = false;
  for (size_t i = 0; i < kDeepest + 3; ++i) {
    EXPECT_EQ(PushRange(nullptr, 1 + static_cast<uint32_t>(i), recorded), static_cast<int>(i));
    EXPECT_EQ(recorded, i < kDeepest);
  }
  for (size_t i = kDeepest + 3; i-- > 0;) {
    const Popped popped = PopRange(nullptr);
    EXPECT_EQ(popped.level, static_cast<int>(i));
    EXPECT_EQ(popped.name, i < kDeepest ? 1 + i : 0);
  }
  EXPECT_EQ(PopRange(nullptr).level, kNoTracking);
}

TEST(NvtxOpenRangesTest, AForkedChildPopsItsParentsRangesWithoutARecord) {
  Push(nullptr, 5);
  FreshCollector();
  RecordCounter(1);  // a session, whose fork handlers run
  const pid_t child = StartChild([] {
    const Popped popped = PopRange(nullptr);
    _exit(popped.level == 0 && popped.name == 0 ? 0 : 1);
  });
  EXPECT_EQ(WaitFor(child), 0);
  EXPECT_EQ(PopRange(nullptr).name, 5u);
}

}  // namespace
}  // namespace vramscope::injector::nvtx
