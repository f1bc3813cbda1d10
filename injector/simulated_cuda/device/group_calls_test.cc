// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/group_calls.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace vramscope::simulated {
namespace {

constexpr uint64_t kParent = 7;
constexpr Patience kNone = {0, 0};

class GroupCallsTest : public testing::Test {
 protected:
  ~GroupCallsTest() override { std::filesystem::remove(file_); }
  [[nodiscard]] const char* file() const { return file_.c_str(); }

 private:
  std::string file_ = testing::TempDir() + "group_calls_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name() +
                      std::to_string(getpid());
};

TEST_F(GroupCallsTest, RanksThatWaitForEachOtherFindTheGroupOfTheirColorInTheOrderOfKeys) {
  std::vector<GroupPlace> places(4);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 4; ++rank) {
    threads.emplace_back([&, rank] {
      const GroupCall own = {kParent, 1, rank, rank % 2, -rank};
      Append(file(), {kParent, 0, rank, 0, 0});
      Append(file(), own);
      places[static_cast<size_t>(rank)] = PlaceIn(AwaitAll(file(), kParent, 1, 4, {60'000, 60'000}), own);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const GroupPlace& place : places) EXPECT_EQ(place.ranks, 2);
  EXPECT_EQ(places[0].rank, 1) << "rank 2 has the smaller key";
  EXPECT_EQ(places[2].rank, 0);
}

TEST_F(GroupCallsTest, EqualKeysAreInTheOrderOfTheOldRanks) {
  const std::vector<GroupCall> all = {{kParent, 1, 0, 3, 0}, {kParent, 1, 1, 3, 0}};
  EXPECT_EQ(PlaceIn(all, all[1]).rank, 1);
}

TEST_F(GroupCallsTest, AnotherCommunicatorAndAnotherCallCountForNothing) {
  Append(file(), {kParent, 1, 0, 0, 0});
  Append(file(), {kParent + 1, 1, 1, 0, 0});
  Append(file(), {kParent, 2, 1, 0, 0});
  EXPECT_TRUE(AwaitAll(file(), kParent, 1, 2, kNone).empty());
  EXPECT_EQ(AwaitAll(file(), kParent, 1, 1, kNone).size(), 1);
}

TEST_F(GroupCallsTest, WhoIsAloneDoesNotWaitAsLongAsWhoHasSeenOthers) {
  constexpr Patience kForEver = {0, 1 << 30};
  Append(file(), {kParent, 0, 0, 0, 0});
  Append(file(), {kParent, 1, 0, 0, 0});
  EXPECT_TRUE(AwaitAll(file(), kParent, 1, 2, kForEver).empty());
  Append(file(), {kParent, 0, 1, 0, 0});
  std::thread late([&] { Append(file(), {kParent, 1, 1, 0, 1}); });
  EXPECT_EQ(AwaitAll(file(), kParent, 1, 2, kForEver).size(), 2);
  late.join();
}

}  // namespace
}  // namespace vramscope::simulated
