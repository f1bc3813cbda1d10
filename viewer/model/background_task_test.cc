// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/background_task.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace vramscope::viewer {
namespace {

// A task's `wake` that a test can wait for.
class Woken {
 public:
  [[nodiscard]] std::function<void()> wake() {
    return [this] { woken_.set_value(); };
  }
  void Wait() { woken_.get_future().wait(); }

 private:
  std::promise<void> woken_;
};

// Returns when `stop` is true.
int UntilStopped(const std::atomic<bool>& stop) {
  while (!stop) std::this_thread::yield();
  return 1;
}

TEST(BackgroundTaskTest, TheFrameThatItWakesHasTheAnswer) {
  for (int round = 0; round < 200; ++round) {
    BackgroundTask<int> task;
    Woken woken;
    task.Start(woken.wake(), [round] { return round; });
    EXPECT_TRUE(task.busy());
    woken.Wait();
    ASSERT_EQ(task.Take(), round);
    EXPECT_FALSE(task.busy());
    ASSERT_EQ(task.Take(), std::nullopt) << "only once";
  }
}

TEST(BackgroundTaskTest, NothingIsThereWhileItWorks) {
  std::promise<void> go;
  BackgroundTask<std::unique_ptr<int>> task;
  Woken woken;
  task.Start(woken.wake(), [&go] {
    go.get_future().wait();
    return std::make_unique<int>(7);
  });
  EXPECT_FALSE(task.Take().has_value());
  EXPECT_TRUE(task.busy());
  go.set_value();
  woken.Wait();
  const auto answer = task.Take();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(**answer, 7);
}

TEST(BackgroundTaskTest, ACanceledTaskIsToldToStopAndHasNoAnswer) {
  BackgroundTask<int> task;
  Woken woken;
  task.Start(woken.wake(), UntilStopped);
  EXPECT_FALSE(task.cancelled());
  task.Cancel();
  woken.Wait();
  EXPECT_TRUE(task.busy()) << "until a frame sees that it ended";
  EXPECT_FALSE(task.Take().has_value());
  EXPECT_FALSE(task.busy());
  EXPECT_TRUE(task.cancelled());
}

TEST(BackgroundTaskTest, ANewTaskEndsTheOneBeforeItAndOnlyItsAnswerArrives) {
  bool ended = false;
  BackgroundTask<int> task;
  task.Start([] {},
             [&ended](const std::atomic<bool>& stop) {
               const int answer = UntilStopped(stop);
               ended = true;
               return answer;
             });
  Woken woken;
  task.Start(woken.wake(), [] { return 2; });
  EXPECT_TRUE(ended) << "its thread may not outlive what it reads";
  EXPECT_FALSE(task.cancelled());
  woken.Wait();
  EXPECT_EQ(task.Take(), 2);
}

TEST(BackgroundTaskTest, DroppingDestroyingAndReplacingItWaitForItsThread) {
  int ended = 0;
  const auto work = [&ended](const std::atomic<bool>& stop) {
    UntilStopped(stop);
    return ++ended;
  };
  BackgroundTask<int> task;
  task.Start([] {}, work);
  task.Drop();
  EXPECT_EQ(ended, 1);
  EXPECT_FALSE(task.busy());
  task.Start([] {}, work);
  task = {};
  EXPECT_EQ(ended, 2);
  {
    BackgroundTask<int> destroyed;
    destroyed.Start([] {}, work);
  }
  EXPECT_EQ(ended, 3);
}

TEST(BackgroundTaskTest, WhatTheWorkThrowsTakeThrows) {
  BackgroundTask<int> task;
  Woken woken;
  task.Start(woken.wake(), []() -> int { throw std::runtime_error("no memory"); });
  woken.Wait();
  EXPECT_THROW((void)task.Take(), std::runtime_error);
  EXPECT_FALSE(task.busy());
}

// An answer with as many frames as it needs.
class BackgroundAnswerTest : public testing::Test {
 protected:
  // Frames that show `key`, until its answer is there.
  void Show(int key) {
    do {
      arrived_ += answer_.Update(
          key, [] {},
          [this, key] {
            ++computed_;
            return "answer " + std::to_string(key);
          });
    } while (answer_.busy());
  }

  std::atomic<int> computed_ = 0;
  int arrived_ = 0;
  BackgroundAnswer<int, std::string> answer_;
};

TEST_F(BackgroundAnswerTest, AKeyIsComputedOnce) {
  Show(1);
  Show(1);
  EXPECT_EQ(answer_.answer(), "answer 1");
  EXPECT_EQ(computed_, 1);
  EXPECT_EQ(arrived_, 1);
}

TEST_F(BackgroundAnswerTest, AnotherKeyHidesTheAnswerAtOnce) {
  Show(1);
  std::promise<void> go;
  answer_.Update(
      2, [] {},
      [&go] {
        go.get_future().wait();
        return std::string("answer 2");
      });
  EXPECT_EQ(answer_.answer(), std::nullopt);
  go.set_value();
  Show(2);
  EXPECT_EQ(answer_.answer(), "answer 2");
}

TEST_F(BackgroundAnswerTest, AForgottenKeyLeavesItsAnswerUntilTheNextOneIsThere) {
  Show(1);
  answer_.Forget();
  EXPECT_EQ(answer_.answer(), "answer 1");
  Show(1);
  EXPECT_EQ(computed_, 2) << "the same key is another subject now";
  answer_.Clear();
  EXPECT_EQ(answer_.answer(), std::nullopt);
}

}  // namespace
}  // namespace vramscope::viewer
