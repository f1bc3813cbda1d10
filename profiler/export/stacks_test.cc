// SPDX-License-Identifier: Apache-2.0
// Stacks and driver calls in the formats of other tools, read back with readers that we did not write.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/export/export.h"
#include "profiler/export/live_stacks.h"
#include "profiler/model/testing/driver_script.h"

namespace vramscope::exporting {
namespace {

using model::testing::DriverScript;
using model::testing::kMiB;

// Two blocks from one line, with driver calls around them. The second block is freed at the end.
DriverScript TwoBlocks() {
  DriverScript s;
  s.Process(1);
  s.At(0).Total(10 * kMiB);
  s.At(5).Take("libc10_cuda.so", 0x7f0000000000, 20 * kMiB);
  const uint64_t stack = s.trace().InternStack({"_start (python3.11+0x12)", "main (/src/train.py:3)",
                                                "_PyEval_EvalFrameDefault", "step (/src/model.py:7)"});
  const auto alloc = [&](uint64_t address, uint64_t bytes) {
    s.Event(trace::EventType::kAlloc, {address, bytes, model::testing::kCuda0, 0, stack, 0, 0, 20 * kMiB});
  };
  s.At(10).Op("aten::mm", [&] { alloc(0x7f0000000000, 4096); });
  s.At(20);
  alloc(0x7f0000001000, 8192);
  s.At(30).Event(trace::EventType::kFree, {0x7f0000001000, 0, model::testing::kCuda0, 0, 0, 0});
  return s;
}

class StacksTest : public ::testing::Test {
 protected:
  ~StacksTest() override { std::remove(path_.c_str()); }
  Content At(const std::string& moment) {
    report::Request request;
    if (!moment.empty()) request.at = {report::ParseMoment(moment).value()};
    return Content::Of(analysis_, request).value();
  }
  std::string Written(const char* format, const Content& content) {
    EXPECT_TRUE(FormatNamed(format)->write(content, {}, path_).ok()) << format;
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  DriverScript script_ = TwoBlocks();
  model::Run run_ = script_.Load();
  classify::Analysis analysis_{run_};
  std::string path_ = ::testing::TempDir() + "/vramscope_stacks_test." + std::to_string(getpid());
};

TEST_F(StacksTest, FlameGraphsLeaveTheInterpreterOut) {
  const auto stacks = FindLiveStacks(At(""));
  ASSERT_FALSE(stacks.empty());
  ASSERT_EQ(stacks.front().frames.size(), 3u);  // two frames and the category
  EXPECT_EQ(stacks.front().frames[0], "main (/src/train.py:3)");
  EXPECT_EQ(stacks.front().frames[1], "step (/src/model.py:7)");
}

TEST_F(StacksTest, FlameGraphsShowTheMomentThatIsAskedFor) {
  const auto sum = [&](const std::string& moment) {
    uint64_t bytes = 0;
    for (const LiveStack& stack : FindLiveStacks(At(moment))) bytes += stack.bytes;
    return bytes;
  };
  EXPECT_EQ(sum(""), 4096u + 8192u);
  EXPECT_EQ(sum("30"), 4096u);
  EXPECT_NE(Written("speedscope", At("30")).find("live bytes at 30"), std::string::npos);
}

TEST_F(StacksTest, SpeedscopeHasFilesAndLines) {
  const auto json = nlohmann::json::parse(Written("speedscope", At("")));
  const auto& frame = json["shared"]["frames"][1];
  EXPECT_EQ(frame["name"], "step");
  EXPECT_EQ(frame["file"], "/src/model.py");
  EXPECT_EQ(frame["line"], 7);
}

TEST_F(StacksTest, TheDatabaseHasWhatWasRecorded) {
  Written("sqlite", At(""));
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
  const auto text = [&](const char* sql) {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db, sql, -1, &statement, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    std::string value = "no row";
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) != nullptr)
      value = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return value;
  };
  EXPECT_EQ(
      text("SELECT frame FROM frames JOIN blocks USING (stack) WHERE bytes = 4096 ORDER BY position DESC"),
      "step (/src/model.py:7)");
  EXPECT_EQ(text("SELECT value FROM operators JOIN texts ON text = operators.name WHERE parent IS NULL"),
            "aten::mm");
  EXPECT_EQ(text("SELECT bytes FROM segments"), std::to_string(20 * kMiB));
  EXPECT_EQ(text("SELECT owner FROM driver_rows WHERE bytes = 20971520"), "pytorch");
  EXPECT_EQ(text("SELECT used_bytes FROM device_used ORDER BY time_ns DESC"), std::to_string(30 * kMiB));
  sqlite3_close(db);
}

}  // namespace
}  // namespace vramscope::exporting
