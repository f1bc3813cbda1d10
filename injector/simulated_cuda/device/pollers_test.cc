// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/pollers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/other_threads.h"
#include "injector/simulated_cuda/device/streams.h"

namespace vramscope::simulated {
namespace {

constexpr int kMany = 50;

// Runs until it is destroyed.
class BusyThread {
 public:
  ~BusyThread() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_{[this] {
    while (!stop_) continue;
  }};
};

// Asks from a thread that has launched nothing, while this one sleeps.
template <typename Function>
void InAnotherThread(const Function& function) {
  std::thread(function).join();
}

TEST(PollersTest, WorkIsDoneOnceAllOtherThreadsSleep) {
  InAnotherThread([] {
    Pollers pollers;
    EXPECT_FALSE(pollers.IsDone({false, 1}, 1));
    {
      const BusyThread busy;
      for (int i = 0; i < kMany; ++i) EXPECT_FALSE(pollers.IsDone({false, 1}, 1));
    }
    for (int i = 1; i < kRounds; ++i) EXPECT_FALSE(pollers.IsDone({false, 1}, 1));
    EXPECT_TRUE(pollers.IsDone({false, 1}, 1));
  });
}

TEST(PollersTest, ALaunchBeginsTheRoundsAnew) {
  InAnotherThread([] {
    Pollers pollers;
    for (uint64_t launches = 1; launches < 20; ++launches)
      for (int i = 0; i < kRounds; ++i) EXPECT_FALSE(pollers.IsDone({false, 1}, launches));
  });
}

TEST(PollersTest, TheOldestWorkIsDoneFirst) {
  InAnotherThread([] {
    Pollers pollers;
    EXPECT_FALSE(pollers.IsDone({false, 9}, 1));
    int rounds = 1;
    for (; !pollers.IsDone({false, 5}, 1); ++rounds) EXPECT_FALSE(pollers.IsDone({false, 9}, 1));
    EXPECT_GE(rounds, kRounds);
    for (rounds = 1; !pollers.IsDone({false, 9}, 1); ++rounds) continue;
    EXPECT_EQ(rounds, kRounds) << "what waited for the older work comes first";
  });
}

TEST(PollersTest, CopiesToTheHostComeLast) {
  InAnotherThread([] {
    Pollers pollers;
    EXPECT_FALSE(pollers.IsDone({true, 5}, 1));
    while (!pollers.IsDone({false, 9}, 1)) EXPECT_FALSE(pollers.IsDone({true, 5}, 1));
    while (!pollers.IsDone({true, 5}, 1)) continue;
  });
}

TEST(PollersTest, AThreadThatAlwaysRunsDoesNotStopTheProgram) {
  InAnotherThread([] {
    Pollers pollers;
    const BusyThread busy;
    EXPECT_FALSE(pollers.IsDone({false, 1}, 1));
    const uint64_t begin = CpuNanosecondsOfOtherThreads();
    while (!pollers.IsDone({false, 1}, 1)) continue;
    EXPECT_GE(CpuNanosecondsOfOtherThreads() - begin, kPatienceForOthersNs / 2);
  });
}

TEST(PollersTest, AnEventOfALateDeviceDoesNotPassWithTheNextLaunch) {
  Streams streams(1, true);
  Stream* const stream = streams.Create(0, 0, 0);
  Event event;
  streams.Issue(stream, NodeType::kCopy);
  streams.Record(&event, stream);
  streams.Issue(stream, NodeType::kKernel);
  EXPECT_EQ(streams.QueryEvent(&event), kNotReady);
  InAnotherThread([&] {
    EXPECT_EQ(streams.QueryEvent(&event), kNotReady);
    while (streams.QueryEvent(&event) == kNotReady) continue;
  });
  EXPECT_EQ(streams.QueryEvent(&event), kSuccess);
  streams.Record(&event, stream);
  EXPECT_EQ(streams.QueryEvent(&event), kNotReady);
  streams.SynchronizeEvent(&event);
  EXPECT_EQ(streams.QueryEvent(&event), kSuccess);
}

}  // namespace
}  // namespace vramscope::simulated
