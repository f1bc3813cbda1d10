// SPDX-License-Identifier: Apache-2.0
// Oracles: the report's answer, and readers that we did not write (SQLite, nlohmann::json, zlib).
// tests/export checks whole files with other programs' readers.
#include "profiler/export/export.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "profiler/classify/usage.h"
#include "profiler/export/series.h"
#include "profiler/export/slices.h"
#include "profiler/model/testing/script.h"

namespace vramscope::exporting {
namespace {

using model::testing::kCuda0;
using model::testing::Script;

// Three steps of training in which everything is named `name`.
Script Training(const std::string& name) {
  Script s;
  s.Device(kCuda0).TotalsAre(0, 4096);
  s.Stack({"main", name}).Alloc("weight", 400).Parameter("weight", name);
  for (int step = 1; step <= 3; ++step) {
    s.Data([&] { s.Alloc("batch", 64); });
    s.Module(name, [&] { s.Op(name, [&] { s.Stack({name}).Alloc("hidden", 128).SavedOutput("hidden"); }); });
    s.Backward([&] { s.Alloc("grad", 400).Gradient("grad", "weight").Released("hidden").Free("hidden"); });
    s.Optimizer(name, [&] { s.Alloc("temporary", 32).Free("temporary"); });
    s.Free("grad").Free("batch");
  }
  s.Event(trace::EventType::kOutOfMemory, {1 << 20, 464, 4096, kCuda0, 0});
  return s;
}

class ExportTest : public ::testing::Test {
 protected:
  explicit ExportTest(const std::string& name = "layers.0") : script_(Training(name)) {}
  ~ExportTest() override { std::remove(path_.c_str()); }

  std::string Written(const char* format, Table table = Table::kBlocks) {
    const Status status = FormatNamed(format)->write(content_, {table}, path_);
    EXPECT_TRUE(status.ok()) << format;
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Script script_;
  model::Run run_ = script_.Load();
  classify::Analysis analysis_{run_};
  Content content_ = Content::Of(analysis_, {}).value();
  std::string path_ = ::testing::TempDir() + "/vramscope_export_test." + std::to_string(getpid());
};

TEST_F(ExportTest, TheSeriesIsWhatUsageSaysAtEveryEvent) {
  std::vector<model::EventIndex> events;
  std::vector<SeriesPoint> points;
  const Series series(content_, content_.device());
  series.ForEach([&](const SeriesPoint& point) {
    events.push_back(point.event);
    points.push_back(point);
  });
  const auto usage = classify::UsageAt(run_, analysis_.categories(), content_.curve(), events);
  uint64_t peak = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points[i].categories, usage[i]) << "event " << events[i];
    EXPECT_EQ(points[i].allocated, content_.curve().AllocatedAfter(events[i]));
    EXPECT_EQ(points[i].reserved, content_.curve().ReservedAfter(events[i]));
    peak = std::max(peak, points[i].allocated);
  }
  EXPECT_GT(points.size(), 20u);
  EXPECT_EQ(peak, content_.answer().peak.allocated_bytes);
}

TEST_F(ExportTest, SlicesNestOnEveryTrack) {
  const Slices slices = FindSlices(content_);
  std::map<size_t, int> depth;
  std::map<size_t, uint64_t> last;
  for (const Edge& edge : slices.edges) {
    EXPECT_GE(edge.time_ns, last[edge.track]);
    last[edge.track] = edge.time_ns;
    depth[edge.track] += edge.begin ? 1 : -1;
    EXPECT_GE(depth[edge.track], 0);
  }
  for (const auto& [track, open] : depth) EXPECT_EQ(open, 0);
  EXPECT_EQ(std::count_if(slices.edges.begin(), slices.edges.end(),
                          [](const Edge& edge) { return edge.begin && std::string(edge.kind) == "step"; }),
            3);
}

TEST_F(ExportTest, AnEndingChoosesTheFormat) {
  EXPECT_STREQ(FormatOfPath("a.json")->name, "chrome");
  EXPECT_STREQ(FormatOfPath("a.speedscope.json")->name, "speedscope");
  EXPECT_STREQ(FormatOfPath("a.pb.gz")->name, "pprof");
  EXPECT_STREQ(FormatOfPath("a.db")->name, "sqlite");
  EXPECT_EQ(FormatOfPath("a.vms"), nullptr);
}

// Names that would corrupt a file or its reader if they were written unchanged.
class HostileNamesTest : public ExportTest, public ::testing::WithParamInterface<std::string> {
 protected:
  HostileNamesTest() : ExportTest(GetParam()) {}
};

std::string Unzipped(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string bytes(1 << 20, '\0');
  bytes.resize(
      static_cast<size_t>(std::max(0, gzread(file, bytes.data(), static_cast<unsigned>(bytes.size())))));
  gzclose(file);
  return bytes;
}

TEST_P(HostileNamesTest, AreHarmlessInEveryFormat) {
  for (const Format& format : Formats()) {
    std::string bytes = Written(format.name);
    EXPECT_LT(bytes.size(), size_t{1} << 20) << format.name;  // a name of one megabyte is shortened
    if (std::string(format.name) == "pprof") bytes = Unzipped(path_);
    EXPECT_EQ(bytes.find("\x1b[2J"), std::string::npos) << format.name;
    if (format.endings == std::string(".json") || std::string(format.name) == "speedscope") {
      EXPECT_EQ(bytes.find('<'), std::string::npos) << format.name;
      EXPECT_TRUE(nlohmann::json::accept(bytes)) << format.name;
    }
  }
}

// Every row has as many fields as the first line, by the rules of RFC 4180.
TEST_P(HostileNamesTest, LeaveCsvItsColumns) {
  for (const Table table : {Table::kEvents, Table::kBlocks, Table::kSeries, Table::kSteps}) {
    std::istringstream lines(Written("csv", table));
    size_t expected = 0;
    for (std::string line; std::getline(lines, line);) {
      size_t fields = 1;
      bool quoted = false;
      for (const char c : line) {
        if (c == '"') quoted = !quoted;
        if (c == ',' && !quoted) ++fields;
      }
      EXPECT_FALSE(quoted) << line;
      if (expected == 0) expected = fields;
      EXPECT_EQ(fields, expected) << line;
      EXPECT_EQ(line.find(",="), std::string::npos) << line;  // a spreadsheet would read this as a formula
    }
  }
}

TEST_P(HostileNamesTest, LeaveTheDatabaseWhole) {
  Written("sqlite");
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
  const auto number = [&](const char* sql) {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db, sql, -1, &statement, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW) << sql;
    const int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
  };
  EXPECT_EQ(number("SELECT count(*) FROM blocks_named"), static_cast<int64_t>(run_.blocks.size()));
  EXPECT_EQ(number("SELECT sum(bytes) FROM live_at_peak"),
            static_cast<int64_t>(content_.answer().peak.allocated_bytes));
  EXPECT_LE(number("SELECT max(length(CAST(value AS BLOB))) FROM texts"), 1024);
  sqlite3_close(db);
}

TEST_P(HostileNamesTest, LeaveCollapsedStacksTheirNumbers) {
  std::istringstream lines(Written("collapsed"));
  uint64_t sum = 0;
  for (std::string line; std::getline(lines, line);) sum += std::stoull(line.substr(line.rfind(' ')));
  EXPECT_EQ(sum, content_.answer().peak.allocated_bytes);
}

INSTANTIATE_TEST_SUITE_P(Names, HostileNamesTest,
                         ::testing::Values("quote\"and'back\\slash`,;|", "two\nlines\r\nand\ttab",
                                           "\x1b[2J\x1b]0;title\x07", "<script>alert(1)</script><!--",
                                           "=cmd|' /C calc'!A0", "'); DROP TABLE blocks; --",
                                           "\xff\xfe no UTF-8 \xc3",
                                           "a\xE2\x80\xAE"
                                           "b",
                                           std::string(1 << 20, 'x')),
                         [](const auto& test) { return "Name" + std::to_string(test.index); });

}  // namespace
}  // namespace vramscope::exporting
