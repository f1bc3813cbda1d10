// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/target/launch_facts.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "profiler/collector/target/process_facts.h"

namespace vramscope::collector {
namespace {

// A process that sleeps with exactly these variables.
class Sleeper {
 public:
  explicit Sleeper(std::vector<std::string> variables) {
    std::vector<char*> environment;
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      char name[] = "sleep", time[] = "60";
      char* const arguments[] = {name, time, nullptr};
      execve("/bin/sleep", arguments, environment.data());
      _exit(1);
    }
    while (CommandLineOf(pid()) != "sleep 60")
      sched_yield();  // from then on the environment is that of the new image
  }
  ~Sleeper() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  [[nodiscard]] uint32_t pid() const { return static_cast<uint32_t>(pid_); }

 private:
  pid_t pid_ = -1;
};

std::string OwnHost() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

TEST(LaunchFactsTest, TheRankIsTheFirstNumberAmongTheVariablesOfLaunchers) {
  const Sleeper process({"HOME=/", "RANK=none", "SLURM_PROCID=3", "JOB_COMPLETION_INDEX=1"});
  EXPECT_EQ(LaunchFactsOf(process.pid()).at("rank"), "3");
}

TEST(LaunchFactsTest, OnlyVariablesOfTheListAreRead) {
  const Sleeper process(
      {"RANK=37", "LOCAL_RANK=5", "WORLD_SIZE=64", "TOKEN=secret", "RANKING=1", "HOSTNAME=x"});
  const std::map<std::string, std::string> expected = {{"rank", "37"},
                                                       {"host", OwnHost()},
                                                       {"env.RANK", "37"},
                                                       {"env.LOCAL_RANK", "5"},
                                                       {"env.WORLD_SIZE", "64"}};
  EXPECT_EQ(LaunchFactsOf(process.pid()), expected);
}

TEST(LaunchFactsTest, AProcessOfKubernetesHasAPod) {
  const Sleeper named({"POD_NAME=train-7", "HOSTNAME=other"});
  EXPECT_EQ(LaunchFactsOf(named.pid()).at("pod"), "train-7");
  const Sleeper unnamed({"KUBERNETES_SERVICE_HOST=10.0.0.1", "HOSTNAME=train-8"});
  EXPECT_EQ(LaunchFactsOf(unnamed.pid()).at("pod"), "train-8");
  const Sleeper outside({"HOSTNAME=train-9"});
  EXPECT_FALSE(LaunchFactsOf(outside.pid()).contains("pod"));
}

TEST(LaunchFactsTest, RedactedFactsAreNumbers) {
  const Sleeper process({"RANK=1", "POD_NAME=alice-train-0", "SLURM_JOB_NAME=alice"});
  const std::map<std::string, std::string> expected = {{"rank", "1"}, {"env.RANK", "1"}};
  EXPECT_EQ(LaunchFactsOf(process.pid(), true), expected);
}

TEST(LaunchFactsTest, AProcessThatIsGoneHasNoVariables) {
  const std::map<std::string, std::string> facts = LaunchFactsOf(0x7ffffff0);
  EXPECT_FALSE(facts.contains("rank"));
}

}  // namespace
}  // namespace vramscope::collector
