// SPDX-License-Identifier: Apache-2.0
// Oracles: the script that made the run, and the report's answer. tests/python_module compares whole files.
#include "profiler/python/capi/tables.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "profiler/model/testing/script.h"

namespace vramscope::python {
namespace {

using model::testing::kCuda0;
using model::testing::Script;

const Column& ColumnOf(const Table& table, std::string_view name) {
  for (const auto& column : table.columns())
    if (column->name() == name) return *column;
  throw std::runtime_error("no column " + std::string(name));
}

bool Has(const Column& column, int64_t row) {
  return column.validity() == nullptr || ((column.validity()[row / 8] >> (row % 8)) & 1) != 0;
}

std::string TextAt(const Table& table, std::string_view name, int64_t row) {
  const Column& column = ColumnOf(table, name);
  if (!Has(column, row)) return "";
  const int32_t code = static_cast<const int32_t*>(column.values())[row];
  const Dictionary& words = *column.dictionary();
  const auto begin = static_cast<size_t>(words.offsets[code]);
  return words.bytes.substr(begin, static_cast<size_t>(words.offsets[code + 1]) - begin);
}

int64_t NumberAt(const Table& table, std::string_view name, int64_t row) {
  const Column& column = ColumnOf(table, name);
  if (!Has(column, row)) return -1;
  return std::string_view(column.format()) == "l" ? static_cast<const int64_t*>(column.values())[row]
                                                  : static_cast<const int32_t*>(column.values())[row];
}

Script TwoSteps() {
  Script s;
  s.Device(kCuda0).Stack({"main", "build"}).Alloc("weight", 512, 400).Parameter("weight", "fc.weight");
  for (int step = 1; step <= 2; ++step) {
    s.Op("aten::linear",
         [&] { s.Op("aten::addmm", [&] { s.Alloc("hidden", 1024, 1000).SavedOutput("hidden"); }); });
    s.Backward([&] { s.Alloc("grad", 512).Gradient("grad", "weight").Released("hidden").Free("hidden"); });
    s.Optimizer("SGD", [] {});
    s.Free("grad");
  }
  return s;
}

class TablesTest : public ::testing::Test {
 protected:
  Script script_ = TwoSteps();
  model::Run run_ = script_.Load();
  classify::Analysis analysis_{run_};
  exporting::Content content_ = exporting::Content::Of(analysis_, {}).value();
};

TEST_F(TablesTest, EventsAreTheScript) {
  const SharedTable events = EventsTable(*run_.source);
  EXPECT_EQ(events->rows(), static_cast<int64_t>(run_.event_count()));
  EXPECT_EQ(TextAt(*events, "type", 0), "alloc");
  EXPECT_EQ(TextAt(*events, "device", 0), "cuda:0");
  EXPECT_EQ(NumberAt(*events, "bytes", 0), 512);
  EXPECT_EQ(NumberAt(*events, "requested_bytes", 0), 400);
  EXPECT_EQ(NumberAt(*events, "process", 0), 100);
  EXPECT_EQ(TextAt(*events, "type", 1), "label");
  EXPECT_EQ(TextAt(*events, "name", 1), "fc.weight");
}

TEST_F(TablesTest, LiveBlocksAddUpToThePeak) {
  const SharedTable blocks = BlocksTable(content_);
  uint64_t live = 0;
  for (int64_t row = 0; row < blocks->rows(); ++row)
    if (!TextAt(*blocks, "peak_category", row).empty())
      live += static_cast<uint64_t>(NumberAt(*blocks, "bytes", row));
  EXPECT_EQ(live, content_.answer().peak.allocated_bytes);
  EXPECT_EQ(TextAt(*blocks, "name", 0), "fc.weight");
  EXPECT_EQ(TextAt(*blocks, "first_category", 0), "parameter");
  EXPECT_EQ(NumberAt(*blocks, "free_ns", 0), -1);
}

TEST_F(TablesTest, TheSeriesReachesThePeakAndItsStepsAreSelected) {
  const SharedTable all = SeriesTable(content_, {content_.device()}, 0, 0);
  int64_t peak = 0;
  for (int64_t row = 0; row < all->rows(); ++row)
    peak = std::max(peak, NumberAt(*all, "allocated_bytes", row));
  EXPECT_EQ(static_cast<uint64_t>(peak), content_.answer().peak.allocated_bytes);
  const SharedTable second = SeriesTable(content_, {content_.device()}, 2, 2);
  EXPECT_GT(second->rows(), 0);
  EXPECT_LT(second->rows(), all->rows());
  for (int64_t row = 0; row < second->rows(); ++row) EXPECT_EQ(NumberAt(*second, "step", row), 2);
}

TEST_F(TablesTest, OperatorsKnowTheirParents) {
  const SharedTable operators = OperatorsTable(*run_.source);
  ASSERT_EQ(operators->rows(), 4);
  EXPECT_EQ(TextAt(*operators, "name", 1), "aten::addmm");
  EXPECT_EQ(NumberAt(*operators, "parent", 1), 1);
  EXPECT_EQ(NumberAt(*operators, "parent", 2), -1);
  EXPECT_GE(NumberAt(*operators, "end_ns", 0), NumberAt(*operators, "end_ns", 1));
}

TEST_F(TablesTest, StacksAreOutermostFirst) {
  const SharedTable stacks = StacksTable(*run_.source);
  ASSERT_EQ(stacks->rows(), 2);
  EXPECT_EQ(TextAt(*stacks, "frame", 0), "main");
  EXPECT_EQ(TextAt(*stacks, "frame", 1), "build");
  EXPECT_EQ(NumberAt(*stacks, "position", 1), 1);
}

TEST(SegmentsTableTest, PagesOfASnapshotMayGoInOtherPiecesThanTheyCame) {
  using namespace trace;
  Script s;
  s.Device(kCuda0).Alloc("block", 512);
  const auto change = [&](uint64_t address, uint64_t size, uint64_t what) {
    s.Event(EventType::kSegment, {address, size, kCuda0, 0, what, 0});
  };
  change(0x100000, 0x400000, segment::kCame | segment::kMapped);
  change(0x200000, 0x100000, segment::kMapped);
  change(0x900000, ~uint64_t{0}, 0);  // a foreign file may say anything
  const model::Run run = s.Load();
  const SharedTable segments = SegmentsTable(run);
  ASSERT_EQ(segments->rows(), 3);
  int64_t open = 0;
  for (int64_t row = 0; row < 3; ++row)
    if (NumberAt(*segments, "end_ns", row) < 0) open += NumberAt(*segments, "bytes", row);
  EXPECT_EQ(open, 0x300000);
}

}  // namespace
}  // namespace vramscope::python
