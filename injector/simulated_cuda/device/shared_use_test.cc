// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/shared_use.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "injector/simulated_cuda/device/process_identity.h"

namespace vramscope::simulated {
namespace {

constexpr uint64_t kCapacity = 80;

// Another process, which does one thing and then waits until it is ended.
class OtherProcess {
 public:
  template <typename Act>
  explicit OtherProcess(Act act) {
    int done[2];
    EXPECT_EQ(pipe(done), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const char answer = act() ? 1 : 0;
      if (write(done[1], &answer, 1) == 1) pause();
      _exit(0);
    }
    close(done[1]);
    char answer = 0;
    EXPECT_EQ(read(done[0], &answer, 1), 1);
    close(done[0]);
    answer_ = answer != 0;
  }
  ~OtherProcess() {
    Kill();
    waitpid(pid_, nullptr, 0);
  }
  // Kills the process without reaping it, so that it stays a zombie.
  void Kill() const {
    kill(pid_, SIGKILL);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  [[nodiscard]] bool answer() const { return answer_; }
  [[nodiscard]] uint32_t pid() const { return static_cast<uint32_t>(pid_); }

 private:
  pid_t pid_;
  bool answer_ = false;
};

class SharedUseTest : public testing::Test {
 protected:
  ~SharedUseTest() override { std::filesystem::remove(file_); }
  bool Takes(uint64_t bytes, int device = 0) { return use_.Take(device, bytes, kCapacity, &missing_); }
  // Takes bytes like a process that maps the table from the file.
  auto Taking(uint64_t bytes, int device = 0) {
    return [this, bytes, device] {
      SharedUse use(file_.c_str());
      uint64_t missing = 0;
      return use.Take(device, bytes, kCapacity, &missing);
    };
  }

  const std::string file_ = testing::TempDir() + "shared_use_test_" + std::to_string(getpid());
  SharedUse use_{file_.c_str()};
  uint64_t missing_ = 0;
};

TEST_F(SharedUseTest, WhatOneProcessTakesAnotherCannotHave) {
  const OtherProcess other(Taking(60));
  EXPECT_TRUE(other.answer());
  EXPECT_EQ(use_.UsedBytes(0), 60u);
  EXPECT_FALSE(Takes(21));
  EXPECT_EQ(missing_, 1u);
  EXPECT_TRUE(Takes(20));
  EXPECT_TRUE(Takes(80, 1)) << "another device";
  use_.Give(0, 20);
  EXPECT_EQ(use_.UsedBytes(0), 60u);
}

TEST_F(SharedUseTest, WhoIsKilledGivesBackAtOnceAlsoBeforeItsParentKnows) {
  const OtherProcess other(Taking(60));
  EXPECT_FALSE(Takes(80));
  other.Kill();
  EXPECT_TRUE(Takes(80));
  EXPECT_EQ(use_.UsedBytes(0), 80u);
}

TEST_F(SharedUseTest, ThePeakIsThatOfAllTogetherAndKnowsWhoHadWhat) {
  ASSERT_TRUE(Takes(10));
  {
    const OtherProcess other(Taking(30));
    trace::PeakShare processes[4];
    EXPECT_EQ(use_.Processes(0, processes, 4), 2u);
    EXPECT_EQ(processes[1].process.pid, other.pid());
    EXPECT_EQ(processes[1].bytes, 30u);
  }
  ASSERT_TRUE(Takes(25));
  EXPECT_EQ(use_.PeakBytes(0), 40u) << "the dead count no more: 35 at one time";
  ASSERT_TRUE(Takes(6));
  EXPECT_EQ(use_.PeakBytes(0), 41u);
}

TEST_F(SharedUseTest, AForkedChildCannotGiveBackWhatItsParentHas) {
  ASSERT_TRUE(Takes(50));
  const OtherProcess child([this] {
    use_.Give(0, 50);
    return true;
  });
  EXPECT_EQ(use_.UsedBytes(0), 50u);
}

TEST_F(SharedUseTest, ALockHeldByTheDeadIsTakenOver) {
  const OtherProcess other([] { return true; });
  const int descriptor = open(file_.c_str(), O_RDWR);
  void* const memory =
      mmap(nullptr, sizeof(trace::DeviceUseTable), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  ASSERT_NE(memory, MAP_FAILED);
  static_cast<trace::DeviceUseTable*>(memory)->lock = uint64_t{other.pid()} << 32;
  munmap(memory, sizeof(trace::DeviceUseTable));
  other.Kill();
  EXPECT_TRUE(Takes(10));
  EXPECT_EQ(use_.UsedBytes(0), 10u);
}

TEST_F(SharedUseTest, ThreadsAndProcessesTogetherLoseNothing) {
  const auto churn = [](SharedUse& use) {
    uint64_t missing = 0;
    for (int i = 0; i < 2000; ++i) {
      if (use.Take(0, 3, 1000, &missing)) use.Give(0, 3);
    }
    return true;
  };
  const auto elsewhere = [&] {
    SharedUse use(file_.c_str());
    return churn(use);
  };
  const OtherProcess first(elsewhere), second(elsewhere);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { churn(use_); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(use_.UsedBytes(0), 0u);
}

TEST(ProcessIdentityTest, AProcessIsItselfAndNotAnotherWithItsNumber) {
  EXPECT_TRUE(IsAlive(ThisProcess()));
  trace::SharingProcess later = ThisProcess();
  later.started += 1;
  EXPECT_FALSE(IsAlive(later));
}

}  // namespace
}  // namespace vramscope::simulated
