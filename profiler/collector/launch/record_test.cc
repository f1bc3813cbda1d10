// SPDX-License-Identifier: Apache-2.0
// Records a program that writes its rings by itself (testing/fake_target.cc). Oracle: counters that the
// program keeps in its own file.
#include "profiler/collector/launch/record.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <map>
#include <random>

#include "profiler/collector/launch/signal_relay.h"
#include "profiler/collector/output/seal.h"
#include "trace_format/reader.h"

namespace vramscope::collector {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using trace::Event;
using trace::EventType;

class RecordTest : public ::testing::Test {
 protected:
  RecordTest() {
    std::string pattern = ::testing::TempDir() + "record_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    const int fd = open(Counters().c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    EXPECT_EQ(ftruncate(fd, 4096), 0);
    counters_ =
        static_cast<std::atomic<uint64_t>*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    close(fd);
  }
  ~RecordTest() override {
    munmap(counters_, 4096);
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] std::string Counters() const { return folder_ + "/counters"; }
  [[nodiscard]] std::string Trace() const { return folder_ + "/run.vms"; }

  [[nodiscard]] RecordOptions Options(std::vector<std::string> arguments) const {
    RecordOptions options;
    options.command = {VRAMSCOPE_FAKE_TARGET};
    options.command.insert(options.command.end(), arguments.begin(), arguments.end());
    options.output = Trace();
    options.version = "test";
    return options;
  }

  RecordOutcome RecordIt(const RecordOptions& options) {
    Result<RecordOutcome> outcome = Record(options);
    EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().sentence);
    return outcome.ok() ? *outcome : RecordOutcome{};
  }

  std::unique_ptr<trace::TraceReader> Open() {
    auto reader = trace::TraceReader::Open(Trace());
    EXPECT_TRUE(reader.ok()) << (reader.ok() ? "" : reader.error().sentence);
    return std::move(reader).value();
  }

  template <typename Visit>
  void ForEach(const trace::TraceReader& reader, const Visit& visit) {
    EXPECT_TRUE(reader
                    .ForEachBatch([&](std::span<const Event> events) {
                      for (const Event& event : events) visit(event);
                      return true;
                    })
                    .ok());
  }

  // The collector's own events: samples of host memory.
  uint64_t SamplesIn(const trace::TraceReader& reader) {
    uint64_t samples = 0;
    ForEach(reader, [&](const Event& event) { samples += event.type == trace::EventType::kCounter; });
    return samples;
  }

  // Checks that each thread of "counted" has marks 1, 2, 3, ... without a gap, and returns the last of each.
  std::map<uint32_t, uint64_t> CountedMarks(const trace::TraceReader& reader) {
    std::map<uint32_t, uint64_t> last;
    ForEach(reader, [&](const Event& event) {
      if (event.type == EventType::kCounter) return;  // of the sampler
      uint64_t& n = last[reader.threads()[event.thread].os_thread - 1000];
      EXPECT_EQ(event.field[trace::mark::kValue], n + 1);
      n = event.field[trace::mark::kValue];
    });
    return last;
  }

  std::string folder_;
  std::atomic<uint64_t>* counters_;
};

TEST_F(RecordTest, EveryRecordOfManyThreadsIsInTheTraceInItsOrder) {
  constexpr uint32_t kThreads = 70;
  const RecordOutcome outcome = RecordIt(Options({"counted", Counters(), std::to_string(kThreads), "3000"}));
  const auto reader = Open();
  EXPECT_EQ(outcome.events, kThreads * 3000U + SamplesIn(*reader));
  EXPECT_EQ(outcome.lost_events, 0U);
  EXPECT_EQ(outcome.processes, 1U);
  EXPECT_TRUE(reader->damage().closed_cleanly);
  const auto marks = CountedMarks(*reader);
  EXPECT_EQ(marks.size(), kThreads);
  for (const auto& [thread, n] : marks) EXPECT_EQ(n, 3000U) << thread;
  EXPECT_EQ(reader->processes()[0].exit_status, 0);
  EXPECT_EQ(reader->metadata().at("process.0.role"), "main");
  EXPECT_EQ(reader->metadata().at("vramscope.version"), "test");
}

TEST_F(RecordTest, WhatWasRecordedBeforeASigkillIsInTheTrace) {
  const uint32_t seed = std::random_device()();
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 3; ++i) counters_[i].store(0);
    const std::string delay = std::to_string(1 + random() % 20'000);
    const RecordOutcome outcome = RecordIt(Options({"counted", Counters(), "3", "0", delay}));
    ASSERT_TRUE(WIFSIGNALED(outcome.wait_status) && WTERMSIG(outcome.wait_status) == SIGKILL);
    const auto marks = CountedMarks(*Open());
    for (uint32_t thread = 0; thread < 3; ++thread) {
      const uint64_t recorded = counters_[thread].load();
      const uint64_t in_trace = marks.contains(thread) ? marks.at(thread) : 0;
      // The target may die between the record and the counter: then the trace has one more.
      ASSERT_GE(in_trace, recorded) << "round " << round << ", seed " << seed;
      ASSERT_LE(in_trace, recorded + 1) << "round " << round << ", seed " << seed;
    }
    ASSERT_EQ(outcome.lost_events, 0U);
  }
}

TEST_F(RecordTest, AChainOfForksIsAProcessEachWithTheNamesOfAllBefore) {
  constexpr uint32_t kDepth = 12;
  const RecordOutcome outcome = RecordIt(Options({"forks", std::to_string(kDepth)}));
  EXPECT_EQ(outcome.processes, kDepth);
  const auto reader = Open();
  std::map<uint64_t, std::vector<std::string>> names;
  ForEach(*reader, [&](const Event& event) {
    if (event.type == EventType::kCounter) return;  // of the sampler
    names[event.field[trace::mark::kValue]].emplace_back(
        reader->String(static_cast<uint32_t>(event.field[trace::mark::kName])));
  });
  ASSERT_EQ(names.size(), kDepth);
  for (const auto& [level, seen] : names) {
    ASSERT_EQ(seen.size(), level);
    for (uint64_t i = 0; i < level; ++i) EXPECT_EQ(seen[i], "level " + std::to_string(i + 1));
  }
  EXPECT_EQ(reader->metadata().at("process.0.role"), "main");
  EXPECT_EQ(reader->metadata().at("process.5.role"), "worker");
  EXPECT_THAT(reader->processes()[kDepth - 1].executable, HasSubstr("fake_target"));
}

TEST_F(RecordTest, AnExecIsANewProcessOfTheTraceWithTheSamePid) {
  EXPECT_EQ(RecordIt(Options({"exec"})).processes, 2U);
  const auto reader = Open();
  EXPECT_EQ(reader->processes()[0].pid, reader->processes()[1].pid);
  EXPECT_GE(reader->processes()[1].start_ns, reader->processes()[0].end_ns);
  EXPECT_EQ(reader->processes()[1].exit_status, 0);
}

TEST_F(RecordTest, AProcessThatOutlivesTheCommandIsLetGoAndNamed) {
  const RecordOutcome outcome = RecordIt(Options({"orphan"}));
  EXPECT_EQ(outcome.wait_status, 0);
  ASSERT_EQ(outcome.left_running.size(), 1U);
  EXPECT_GT(outcome.events, 100U) << "recorded for as long as the collector waits";
  EXPECT_EQ(Open()->metadata().at("recording.left_running"), std::to_string(outcome.left_running[0]));
}

TEST_F(RecordTest, BrokenRingFilesNeverCrashAndWhatIsWholeIsKept) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const RecordOutcome outcome = RecordIt(Options({"garbage", std::to_string(seed)}));
    EXPECT_EQ(outcome.wait_status, 0) << "seed " << seed;
    EXPECT_TRUE(Open()->damage().closed_cleanly);
  }
}

TEST_F(RecordTest, ADiskThatIsFullEndsTheRecordingAndNotTheCommand) {
  RecordOptions options = Options({"counted", Counters(), "2", "300000"});
  options.output = "/dev/full";
  const Result<RecordOutcome> outcome = Record(options);
  // Not even the trace's header fits on this disk.
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().sentence, HasSubstr("No space left"));
  EXPECT_EQ(counters_[0].load(), 0U) << "refused before the start";
}

TEST_F(RecordTest, ATraceThatReachesItsLimitIsWholeAndTheCommandRunsOn) {
  RecordOptions options = Options({"counted", Counters(), "2", "2000000"});
  options.max_bytes = 200'000;
  const RecordOutcome outcome = RecordIt(options);
  EXPECT_EQ(outcome.wait_status, 0);
  EXPECT_EQ(counters_[0].load(), 2'000'000U);
  EXPECT_THAT(outcome.stop_sentence, HasSubstr("--max-size"));
  const auto reader = Open();
  EXPECT_EQ(outcome.events + outcome.lost_events, 4'000'000U + SamplesIn(*reader));
  EXPECT_GT(outcome.events, SamplesIn(*reader));
  EXPECT_TRUE(reader->damage().closed_cleanly);
  EXPECT_LE(reader->file_bytes(), options.max_bytes);
  EXPECT_THAT(reader->metadata().at("recording.stopped"), HasSubstr("--max-size"));
  CountedMarks(*reader);
}

TEST_F(RecordTest, ACommandThatRecordsNothingLeavesAValidTrace) {
  RecordOptions options = Options({});
  options.command = {"sh", "-c", "exit 3"};
  const RecordOutcome outcome = RecordIt(options);
  EXPECT_EQ(WEXITSTATUS(outcome.wait_status), 3);
  EXPECT_EQ(outcome.events, 0U);
  EXPECT_TRUE(Open()->damage().closed_cleanly);
}

TEST_F(RecordTest, ACommandThatCannotBeStartedLeavesNoTrace) {
  RecordOptions options = Options({});
  options.command = {"no-such-command-anywhere"};
  const Result<RecordOutcome> outcome = Record(options);
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().sentence, HasSubstr("command not found"));
  EXPECT_FALSE(std::filesystem::exists(Trace()));
}

TEST_F(RecordTest, TheEnvironmentKeepsWhatWasThereBehindWhatWeAdd) {
  RecordOptions options = Options({});
  options.command = {"sh", "-c",
                     "echo \"$PYTHONPATH|$VRAMSCOPE_OPTIONS|$HOME_OF_TEST\" > " + folder_ + "/env"};
  options.installation = Installation{"", "/shim"};
  setenv("PYTHONPATH", "/users", 1);
  setenv("HOME_OF_TEST", "kept", 1);
  RecordIt(options);
  unsetenv("PYTHONPATH");
  std::string text(200, '\0');
  const int fd = open((folder_ + "/env").c_str(), O_RDONLY | O_CLOEXEC);
  text.resize(static_cast<size_t>(read(fd, text.data(), text.size())));
  close(fd);
  EXPECT_EQ(text,
            "/shim:/users|device=auto;depth=auto;deep_steps=2-4;stacks=none;"
            "shim=/shim;cupti=auto;program=on|kept\n");
}

// Sent by users, by terminals, by batch systems, and by timers.
constexpr std::array kSignalsOfTheCommand = {SIGINT,  SIGTERM, SIGHUP,    SIGUSR1, SIGQUIT, SIGALRM,
                                             SIGXCPU, SIGPROF, SIGVTALRM, SIGPWR,  40};

// The collector in a process group of its own, as a shell starts a job.
class SignalsTest : public RecordTest {
 protected:
  void Start() {
    collector_ = fork();
    if (collector_ == 0) {
      setpgid(0, 0);
      const Result<RecordOutcome> outcome = Record(Options({"signals", Counters()}));
      if (!outcome.ok()) _exit(98);
      if (WIFSIGNALED(outcome->wait_status)) DieBySignal(WTERMSIG(outcome->wait_status));
      _exit(WEXITSTATUS(outcome->wait_status));
    }
    setpgid(collector_, collector_);
    while (counters_[0].load() == 0) poll(nullptr, 0, 1);
  }
  // Signals are delivered in no particular order: the command must have received one before the next is sent.
  void Await(int signal) {
    while (counters_[signal].load() == 0) poll(nullptr, 0, 1);
  }
  int Finish() {
    int status = 0;
    waitpid(collector_, &status, 0);
    return status;
  }

  pid_t collector_ = 0;
};

TEST_F(SignalsTest, ASignalToTheCollectorReachesTheCommandOnce) {
  Start();
  for (const int signal : kSignalsOfTheCommand) {
    kill(collector_, signal);
    Await(signal);
  }
  kill(collector_, SIGUSR2);
  EXPECT_EQ(WEXITSTATUS(Finish()), 17);
  for (const int signal : kSignalsOfTheCommand) EXPECT_EQ(counters_[signal].load(), 1U) << signal;
}

// As with `perl -e 'alarm 1; exec "vramscope", "record", ...'` or `ulimit -t`.
TEST_F(SignalsTest, ATimerThatWasSetBeforeBelongsToTheCommand) {
  collector_ = fork();
  if (collector_ == 0) {
    const itimerval soon{{}, {0, 100'000}};
    setitimer(ITIMER_REAL, &soon, nullptr);
    RecordOptions options = Options({});
    options.command = {"/bin/sleep", "60"};
    const Result<RecordOutcome> outcome = Record(options);
    _exit(outcome.ok() && WIFSIGNALED(outcome->wait_status) && WTERMSIG(outcome->wait_status) == SIGALRM
              ? 17
              : 98);
  }
  EXPECT_EQ(WEXITSTATUS(Finish()), 17);
}

TEST_F(SignalsTest, ASignalToTheGroupReachesTheCommandOnceToo) {
  Start();
  for (const int signal : kSignalsOfTheCommand) {
    kill(-collector_, signal);
    Await(signal);
  }
  // Signals that the collector wrongly passes on are passed on before this one.
  kill(collector_, SIGUSR2);
  EXPECT_EQ(WEXITSTATUS(Finish()), 17);
  for (const int signal : kSignalsOfTheCommand) EXPECT_EQ(counters_[signal].load(), 1U) << signal;
}

TEST_F(SignalsTest, TheCollectorStopsAndGoesOnWithTheCommand) {
  Start();
  kill(-collector_, SIGTSTP);
  int status = 0;
  ASSERT_EQ(waitpid(collector_, &status, WUNTRACED), collector_);
  ASSERT_TRUE(WIFSTOPPED(status));
  kill(-collector_, SIGCONT);
  ASSERT_EQ(waitpid(collector_, &status, WCONTINUED), collector_);
  ASSERT_TRUE(WIFCONTINUED(status));
  Await(SIGCONT);
  kill(collector_, SIGUSR2);
  EXPECT_EQ(WEXITSTATUS(Finish()), 17);
  EXPECT_EQ(counters_[SIGCONT].load(), 1U);
}

TEST_F(SignalsTest, TheCollectorDiesAsTheCommandDied) {
  Start();
  kill(static_cast<pid_t>(counters_[0].load()), SIGSEGV);
  const int status = Finish();
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
  EXPECT_FALSE(WCOREDUMP(status));
  EXPECT_TRUE(Open()->damage().closed_cleanly);
}

TEST_F(SignalsTest, AKilledCollectorLeavesAReadableTraceAndARunningCommand) {
  Start();
  kill(collector_, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(Finish()));
  const auto command = static_cast<pid_t>(counters_[0].load());
  EXPECT_EQ(kill(command, SIGUSR2), 0);
  EXPECT_FALSE(Open()->damage().closed_cleanly);
  EXPECT_THAT(Open()->damage().sentence, ::testing::Not(IsEmpty()));
}

TEST_F(RecordTest, TheLastProgramOfAProcessThatIsKilledIsInTheTraceAndSealed) {
  setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
  RecordIt(Options({"programs"}));
  const auto reader = Open();
  const trace::Programs& programs = reader->programs();
  ASSERT_EQ(programs.size(), 1U);
  EXPECT_EQ(programs.at(0).step, 6U);
  EXPECT_EQ(programs.at(0).text, R"({"step": 6})");
  EXPECT_TRUE(IsSealedHere(programs.at(0).text, programs.at(0).seal));
  unsetenv("XDG_CONFIG_HOME");
}

}  // namespace
}  // namespace vramscope::collector
