// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/ask/host_room.h"

#include <gtest/gtest.h>

namespace vramscope::cli {
namespace {

constexpr uint64_t kHostGib = uint64_t{1} << 30;

TEST(HostRoomTest, AsManyRunsAsFitIntoFourFifthsOfTheFreeMemory) {
  EXPECT_EQ(RunsAtATime(8, 10 * kHostGib, 2 * kHostGib), 4u);
  EXPECT_EQ(RunsAtATime(8, 100 * kHostGib, 2 * kHostGib), 8u) << "not more than cores";
  EXPECT_EQ(RunsAtATime(8, kHostGib, 2 * kHostGib), 1u) << "somebody has to try";
  EXPECT_EQ(RunsAtATime(8, UINT64_MAX, 2 * kHostGib), 8u) << "the free memory is not known";
  EXPECT_EQ(RunsAtATime(8, 100 * kHostGib, 0), 1u) << "nothing is known of the program";
}

TEST(HostRoomTest, ThisMachineHasSomeMemoryLeft) {
  EXPECT_GT(FreeHostBytes(), uint64_t{1} << 20);
  EXPECT_LT(FreeHostBytes(), uint64_t{1} << 60);
}

}  // namespace
}  // namespace vramscope::cli
