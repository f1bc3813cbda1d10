// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/target/process_watch.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace_format/process_identity.h"

namespace vramscope::collector {
namespace {

struct Child {
  pid_t pid = 0;
  uint64_t start_ticks = 0;
};

// A child that waits until it is killed or gets a byte, and then exits with 3.
Child Start(int wait_for) {
  Child child;
  child.pid = fork();
  if (child.pid == 0) {
    char byte = 0;
    _exit(read(wait_for, &byte, 1) == 1 ? 3 : 4);
  }
  child.start_ticks = trace::StartTicksOf(std::to_string(child.pid).c_str());
  return child;
}

void Await(const ProcessWatch& watch) {
  pollfd ended{watch.descriptor(), POLLIN, 0};
  ASSERT_EQ(poll(&ended, 1, 60'000), 1);
  ASSERT_TRUE(watch.HasEnded());
}

TEST(ProcessWatchTest, AZombieHasTheStatusThatItsParentWillGet) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Child child = Start(ends[0]);
  const ProcessWatch watch(static_cast<uint32_t>(child.pid));
  EXPECT_FALSE(watch.HasEnded());
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  Await(watch);
  const auto status = watch.ExitStatus(child.start_ticks);
  int waited = 0;
  ASSERT_EQ(waitpid(child.pid, &waited, 0), child.pid);
  EXPECT_EQ(status, waited);
  EXPECT_EQ(WEXITSTATUS(*status), 3);
}

TEST(ProcessWatchTest, AKilledProcessHasItsSignal) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Child child = Start(ends[0]);
  const ProcessWatch watch(static_cast<uint32_t>(child.pid));
  kill(child.pid, SIGKILL);
  Await(watch);
  const auto status = watch.ExitStatus(child.start_ticks);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(WTERMSIG(*status), SIGKILL);
  // Once the child is reaped, only a recent kernel still has its status. It never reports a different one.
  waitpid(child.pid, nullptr, 0);
  const auto later = watch.ExitStatus(child.start_ticks);
  EXPECT_TRUE(!later.has_value() || *later == *status);
}

}  // namespace
}  // namespace vramscope::collector
