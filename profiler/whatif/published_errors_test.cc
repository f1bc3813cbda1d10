// SPDX-License-Identifier: Apache-2.0
// The oracle is docs/accuracy.md: what is published there is what predictions carry.
#include "profiler/whatif/published_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "profiler/whatif/lever.h"

namespace vramscope::whatif {
namespace {

using Row = std::map<std::string, std::string>;  // by column: "cells", "allocated: worst", ...

std::vector<std::string> CellsOf(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream parts(line.substr(1));
  for (std::string cell; std::getline(parts, cell, '|');) {
    const size_t first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos ? ""
                                               : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
  }
  return cells;
}

// The tables of changes below "## Predicted changes"; of a change that stands in two, models that were looked
// at once come first and count. A column "worst" belongs to the quantity that the header named last.
std::map<std::string, Row> PublishedTable() {
  std::ifstream page(std::string(VRAMSCOPE_SOURCE_DIR) + "/docs/accuracy.md");
  std::map<std::string, Row> table;
  std::vector<std::string> columns;
  bool here = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) here = line == "## Predicted changes";
    if (!here || !line.starts_with("|")) {
      columns.clear();
      continue;
    }
    const std::vector<std::string> cells = CellsOf(line);
    if (columns.empty()) {
      std::string quantity;
      for (std::string column : cells) {
        if (const size_t colon = column.find(": "); colon != std::string::npos)
          quantity = column.substr(0, colon + 2);
        else if (!quantity.empty() && (column == "worst" || column == "p95" || column == "bias"))
          column = quantity + column;
        columns.push_back(column);
      }
      continue;
    }
    if (columns.front() != "change" || cells.front().starts_with("---") || cells.front() == "all") continue;
    Row row;
    for (size_t i = 0; i < std::min(columns.size(), cells.size()); ++i) row[columns[i]] = cells[i];
    table.emplace(cells.front(), std::move(row));
  }
  return table;
}

TEST(PublishedErrorsTest, TheyAreThoseOfThePage) {
  std::map<std::string, Row> page = PublishedTable();
  ASSERT_FALSE(page.empty());
  for (const PublishedErrors& row : AllPublishedErrors()) {
    ASSERT_TRUE(page.contains(row.row)) << "docs/accuracy.md has no row " << row.row;
    Row& published = page[row.row];
    EXPECT_EQ(row.cells, std::stoul(published["cells"])) << row.row;
    EXPECT_DOUBLE_EQ(row.allocated_median, std::stod(published["allocated: median"])) << row.row;
    EXPECT_DOUBLE_EQ(row.allocated_worst, std::stod(published["allocated: worst"])) << row.row;
    EXPECT_DOUBLE_EQ(row.reserved_median, std::stod(published["reserved: median"])) << row.row;
    EXPECT_DOUBLE_EQ(row.reserved_worst, std::stod(published["reserved: worst"])) << row.row;
    EXPECT_NE(FindLever(row.lever), nullptr) << row.lever;
    page.erase(row.row);
  }
  for (const auto& [row, columns] : page)
    ADD_FAILURE() << "docs/accuracy.md has a row that predictions do not know: " << row;
}

// Whatever the table says, these hold.
TEST(PublishedErrorsTest, ABandReachesTheWorstThatWasPublished) {
  for (const PublishedErrors& row : AllPublishedErrors()) {
    const std::string_view lever = row.lever;
    const ErrorBand band = BandOf({&lever, 1});
    constexpr uint64_t kPredicted = 10ull << 30;
    const auto truth = static_cast<uint64_t>(kPredicted / (1 - std::abs(row.reserved_worst) / 100));
    EXPECT_GE(band.ReservedAtMost(kPredicted), kPredicted);
    EXPECT_GE(band.ReservedAtMost(kPredicted) + kPredicted / 100, truth) << row.row;
    EXPECT_LE(band.ReservedAtLeast(kPredicted), kPredicted);
    EXPECT_TRUE(band.not_measured.empty());
  }
}

TEST(PublishedErrorsTest, ManyLeversTogetherAreLessSureThanEach) {
  const std::string_view both[] = {"accumulate", "checkpoint"};
  const ErrorBand one = BandOf({both, 1}), two = BandOf(both);
  EXPECT_GT(two.reserved_share, one.reserved_share);
  EXPECT_EQ(BandOf({}).ReservedAtMost(1000), 1000u);
}

TEST(PublishedErrorsTest, ALeverThatNobodyMeasuredIsSaidToBe) {
  const std::string_view lever = "no such lever";
  const ErrorBand band = BandOf({&lever, 1});
  EXPECT_THAT(band.not_measured, testing::ElementsAre("no such lever"));
  EXPECT_GT(band.reserved_share, 0);
}

}  // namespace
}  // namespace vramscope::whatif
