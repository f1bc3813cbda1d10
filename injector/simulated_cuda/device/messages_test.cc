// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/messages.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace vramscope::simulated {
namespace {

using Bytes = std::vector<unsigned char>;
constexpr uint64_t kGroup = 7;
constexpr int kLongMs = 60'000;

class MessagesTest : public testing::Test {
 protected:
  ~MessagesTest() override { std::filesystem::remove(file_); }

  static Bytes Told(Messages& messages, const MessageKey& key, int patience_ms = kLongMs) {
    return messages.Await(key, patience_ms).value_or(Bytes());
  }

  std::string file_ = testing::TempDir() + "messages_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name() +
                      std::to_string(getpid());
  Messages here_{file_}, there_{file_};
};

TEST_F(MessagesTest, WhatOneRankTellsAnotherGets) {
  std::thread rank0([&] { here_.Tell({kGroup, 1, 0, 1}, "abc", 3); });
  EXPECT_EQ(Told(there_, {kGroup, 1, 0, 1}), Bytes({'a', 'b', 'c'}));
  rank0.join();
}

TEST_F(MessagesTest, MessagesAreKnownByGroupNumberAndRanksWhateverTheirOrder) {
  here_.Tell({kGroup, 2, 0, 1}, "2", 1);
  here_.Tell({kGroup + 1, 1, 0, 1}, "g", 1);
  here_.Tell({kGroup, 1, 2, 1}, "r", 1);
  here_.Tell({kGroup, 1, 0, 1}, "1", 1);
  EXPECT_EQ(Told(there_, {kGroup, 1, 0, 1}), Bytes({'1'}));
  EXPECT_EQ(Told(there_, {kGroup, 2, 0, 1}), Bytes({'2'}));
  EXPECT_EQ(Told(there_, {kGroup, 1, 2, 1}), Bytes({'r'}));
}

TEST_F(MessagesTest, WhatGoesToAllIsThereForSeveralRanksOfAProcess) {
  here_.Tell({kGroup, 1, 0, MessageKey::kToAll}, "x", 1);
  EXPECT_EQ(Told(there_, {kGroup, 1, 0, MessageKey::kToAll}), Bytes({'x'}));
  EXPECT_EQ(Told(there_, {kGroup, 1, 0, MessageKey::kToAll}), Bytes({'x'}));
}

TEST_F(MessagesTest, NobodyWaitsForARankWhoseProcessHasEnded) {
  const pid_t child = fork();
  if (child == 0) {
    here_.Tell({kGroup, 1, 0, 1}, "x", 1);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(Told(there_, {kGroup, 1, 0, 1}), Bytes({'x'})) << "it told this one before it ended";
  EXPECT_FALSE(there_.Await({kGroup, 2, 0, 1}, 1 << 30).has_value());
}

TEST_F(MessagesTest, WhoWasWaitedForInVainIsNotWaitedForAgain) {
  EXPECT_FALSE(there_.Await({kGroup, 1, 0, 1}, 0).has_value());
  EXPECT_FALSE(there_.Await({kGroup, 2, 0, 1}, 1 << 30).has_value());
}

}  // namespace
}  // namespace vramscope::simulated
