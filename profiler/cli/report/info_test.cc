// SPDX-License-Identifier: Apache-2.0
// Oracle: a trace written by this test, in which every number is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "profiler/cli/frame/verb.h"
#include "trace_format/file_sink.h"
#include "trace_format/writer.h"

namespace vramscope::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using trace::CoverageState;
using trace::Event;
using trace::EventType;
using trace::MarkKind;

Event MakeEvent(EventType type, uint32_t thread, uint64_t time_ns, std::initializer_list<uint64_t> fields) {
  Event event;
  event.type = type;
  event.thread = thread;
  event.time_ns = time_ns;
  std::copy(fields.begin(), fields.end(), event.field);
  return event;
}

class InfoTest : public ::testing::Test {
 protected:
  InfoTest() {
    std::string pattern = ::testing::TempDir() + "info_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    WriteTrace();
  }
  ~InfoTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string Path() const { return folder_ + "/run.vms"; }

  // A main process with two optimizers, which step 3 times and once; a forked worker; 7 dropped events.
  void WriteTrace() const {
    auto sink = trace::CreateFileSink(Path());
    auto made = trace::TraceWriter::Create(std::move(sink).value(), trace::TraceClock{});
    trace::TraceWriter& writer = **made;
    writer.AddProcess({.pid = 100,
                       .start_ns = 0,
                       .end_ns = 2'000'000'000,
                       .exit_status = 0,
                       .command_line = "python train.py"});
    writer.AddProcess({.pid = 101, .parent_pid = 100, .start_ns = 5, .end_ns = 9, .exit_status = 9});
    writer.AddThread({.process = 0, .os_thread = 100});
    writer.AddThread({.process = 1, .os_thread = 101});
    writer.SetMetadata("process.0.role", "main");
    writer.SetMetadata("process.1.role", "worker");
    writer.SetMetadata("process.0.rank", "37");
    writer.SetMetadata("process.0.host", "node-09");
    writer.SetMetadata("process.0.env.WORLD_SIZE", "64");
    writer.SetMetadata("command_line", "python train.py");
    writer.SetMetadata("torch.version", "2.15.0");
    const trace::StringId hook = writer.InternString("c10::Memory\x1b[2J");
    const trace::StringId detail = writer.InternString("not in this release");
    const auto step_done = static_cast<uint64_t>(MarkKind::kOptimizerStepDone);
    const std::vector<Event> events = {
        MakeEvent(EventType::kCoverage, 0, 1, {hook, static_cast<uint64_t>(CoverageState::kProven), 0}),
        MakeEvent(EventType::kCoverage, 1, 2, {hook, static_cast<uint64_t>(CoverageState::kHooked), detail}),
        MakeEvent(EventType::kAlloc, 0, 3, {4096, 1000, trace::DeviceCode(1, 0)}),
        MakeEvent(EventType::kAlloc, 1, 4, {64, 24, trace::DeviceCode(0, 0)}),
        MakeEvent(EventType::kMark, 0, 5, {step_done, 1, 0, 0xA}),
        MakeEvent(EventType::kMark, 0, 6, {step_done, 1, 0, 0xB}),
        MakeEvent(EventType::kMark, 0, 7, {step_done, 2, 0, 0xA}),
        MakeEvent(EventType::kMark, 0, 8, {step_done, 3, 0, 0xA}),
        MakeEvent(EventType::kLost, 0, 9, {7, 1, 8}),
    };
    ASSERT_TRUE(writer.Append(events).ok());
    ASSERT_TRUE(writer.Close().ok());
  }

  // The output of the verb; its exit code must be `code`.
  static std::string Run(std::vector<std::string> words, int code = kDone) {
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(RunInfo(words), code);
    std::fflush(stdout);
    return ::testing::internal::GetCapturedStdout();
  }

  std::string folder_;
};

TEST_F(InfoTest, JsonSaysWhatTheTraceHolds) {
  const nlohmann::json info = nlohmann::json::parse(Run({Path(), "--json"}));
  EXPECT_EQ(info["schema_version"], 1);
  EXPECT_EQ(info["events"], 9);
  EXPECT_EQ(info["events_by_type"]["alloc"], 2);
  EXPECT_EQ(info["dropped_events"], 7);
  EXPECT_EQ(info["steps"], 1) << "a training step ends with the optimizer that steps least often";
  ASSERT_EQ(info["processes"].size(), 2U);
  EXPECT_EQ(info["processes"][0]["role"], "main");
  EXPECT_EQ(info["processes"][0]["exit_status"], 0);
  EXPECT_EQ(info["processes"][0]["rank"], 37);
  EXPECT_EQ(info["processes"][0]["world_size"], 64);
  EXPECT_EQ(info["processes"][0]["host"], "node-09");
  EXPECT_EQ(info["processes"][0]["environment"]["WORLD_SIZE"], "64");
  EXPECT_EQ(info["processes"][1]["rank"], nullptr);
  EXPECT_EQ(info["processes"][1]["parent_pid"], 100);
  EXPECT_EQ(info["processes"][1]["events"], 2);
  EXPECT_EQ(info["devices"],
            nlohmann::json::parse(R"([{"device": "cpu", "allocations": 1, "allocated_bytes": 24},
                                                       {"device": "cuda:0", "allocations": 1, "allocated_bytes": 1000}])"));
  ASSERT_EQ(info["coverage"].size(), 1U);
  EXPECT_EQ(info["coverage"][0]["state"], "proven") << "the best that any process saw";
  EXPECT_EQ(info["coverage"][0]["processes"], 2);
  EXPECT_EQ(info["metadata"]["torch.version"], "2.15.0");
  EXPECT_EQ(info["damage"]["closed_cleanly"], true);
}

TEST_F(InfoTest, TextSaysTheSameAndNoTextOfTheTraceCommandsTheTerminal) {
  const std::string text = Run({Path(), "--color", "always"});
  EXPECT_THAT(text, HasSubstr("9 events of 2 processes"));
  EXPECT_THAT(text, HasSubstr("7 events lost"));
  EXPECT_THAT(text, HasSubstr("killed by signal 9"));
  EXPECT_THAT(text, HasSubstr("rank 37 of 64  node-09  process 100"));
  EXPECT_THAT(text, HasSubstr("c10::Memory?[2J"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b[2J")));
}

TEST_F(InfoTest, ColorIsForTerminalsOnly) { EXPECT_THAT(Run({Path()}), Not(HasSubstr("\x1b["))); }

TEST_F(InfoTest, ADamagedTraceSaysSoAndShowsTheRest) {
  std::filesystem::resize_file(Path(), std::filesystem::file_size(Path()) - 10);
  const nlohmann::json info = nlohmann::json::parse(Run({Path(), "--json"}));
  EXPECT_EQ(info["damage"]["closed_cleanly"], false);
  EXPECT_EQ(info["events"], 9);
}

TEST_F(InfoTest, WrongUseIsASentenceAndNoCrash) {
  EXPECT_EQ(Run({}, kBadInput), "");
  EXPECT_EQ(Run({Path(), Path()}, kBadInput), "");
  EXPECT_EQ(Run({"/no/such/run.vms"}, kBadInput), "");
  EXPECT_EQ(Run({Path(), "--jsn"}, kBadInput), "");
  EXPECT_EQ(Run({Path(), "--color", "blue"}, kBadInput), "");
  EXPECT_THAT(Run({"--help"}), HasSubstr("Usage: vramscope info"));
}

}  // namespace
}  // namespace vramscope::cli
