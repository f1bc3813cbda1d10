// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/target/process_facts.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profiler/collector/output/whole_file.h"

namespace vramscope::collector {
namespace {

TEST(ProcessFactsTest, AFileThatFailsWhileItIsReadIsEmpty) {
  // Opens, but nothing is mapped at address 0: read() fails, as it does for a process that has just died.
  EXPECT_EQ(ReadWhole("/proc/self/mem"), "");
  EXPECT_EQ(ReadWhole("/no/such/file"), "");
  EXPECT_EQ(ReadWhole("/proc/self"), "") << "a folder";
}

TEST(ProcessFactsTest, ThisProcessHasACommandLine) {
  EXPECT_NE(CommandLineOf(static_cast<uint32_t>(getpid())).find("collector_test"), std::string::npos);
}

TEST(ProcessFactsTest, TheRankIsTheFirstNumberAmongTheVariablesOfLaunchers) {
  const pid_t child = fork();
  if (child == 0) {
    char name[] = "sleep", time[] = "60", none[] = "RANK=none", rank[] = "SLURM_PROCID=3", other[] = "HOME=/";
    char* const arguments[] = {name, time, nullptr};
    char* const environment[] = {other, none, rank, nullptr};
    execve("/bin/sleep", arguments, environment);
    _exit(1);
  }
  const auto pid = static_cast<uint32_t>(child);
  while (CommandLineOf(pid) != "sleep 60")
    sched_yield();  // from then on the environment is that of the new image
  EXPECT_EQ(RankOf(pid), "3");
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace vramscope::collector
