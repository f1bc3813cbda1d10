// SPDX-License-Identifier: Apache-2.0
// Oracle: docs/accuracy.md. Predictions carry the error that is published there.
#include "profiler/whatif/answer/published_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "profiler/whatif/scene/lever.h"

namespace vramscope::whatif {
namespace {

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

// The rows of the table below "### Bounds".
std::map<std::string, std::vector<std::string>> PublishedTable() {
  std::ifstream page(std::string(VRAMSCOPE_SOURCE_DIR) + "/docs/accuracy.md");
  std::map<std::string, std::vector<std::string>> table;
  bool here = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("#")) here = line == "### Bounds";
    if (!here || !line.starts_with("|")) continue;
    const std::vector<std::string> cells = CellsOf(line);
    if (cells.front() != "lever" && !cells.front().starts_with("---")) table.emplace(cells.front(), cells);
  }
  return table;
}

double ShareOf(const std::string& cell) { return cell == "exact" ? kExact : std::stod(cell); }

TEST(PublishedErrorsTest, TheyAreThoseOfThePage) {
  std::map<std::string, std::vector<std::string>> page = PublishedTable();
  ASSERT_FALSE(page.empty());
  for (const PublishedBounds& row : AllPublishedBounds()) {
    ASSERT_TRUE(page.contains(row.lever)) << "docs/accuracy.md has no bounds of " << row.lever;
    const std::vector<std::string>& published = page[row.lever];
    ASSERT_EQ(published.size(), 6u) << row.lever;
    EXPECT_EQ(row.cells, std::stoul(published[1])) << row.lever;
    EXPECT_DOUBLE_EQ(row.allocated_more, ShareOf(published[2])) << row.lever;
    EXPECT_DOUBLE_EQ(row.allocated_less, ShareOf(published[3])) << row.lever;
    EXPECT_DOUBLE_EQ(row.reserved_more, ShareOf(published[4])) << row.lever;
    EXPECT_DOUBLE_EQ(row.reserved_less, ShareOf(published[5])) << row.lever;
    const std::string name = row.lever;
    EXPECT_TRUE(name == kReruns || FindLever(name.substr(0, name.find('='))) != nullptr) << row.lever;
    page.erase(row.lever);
  }
  for (const auto& [row, columns] : page)
    ADD_FAILURE() << "docs/accuracy.md has bounds that predictions do not know: " << row;
}

// These hold for any content of the table.
TEST(PublishedErrorsTest, ABandReachesWhatWasPublished) {
  constexpr uint64_t kTruth = 10'000'000'000;
  for (const PublishedBounds& row : AllPublishedBounds()) {
    const std::string lever = row.lever;
    const ErrorBand band = BandOf({&lever, 1});
    // The prediction whose error is this share.
    const auto predicted = [](double share) {
      return static_cast<uint64_t>(kTruth * (1 - std::max(0.0, share) / 100)) + 2;
    };
    EXPECT_GE(band.ReservedAtMost(predicted(row.reserved_more)), kTruth) << row.lever;
    EXPECT_GE(band.AllocatedAtMost(predicted(row.allocated_more)), kTruth) << row.lever;
    EXPECT_LE(band.ReservedAtLeast(kTruth), kTruth) << row.lever;
    EXPECT_LE(band.AllocatedAtLeast(kTruth), kTruth) << row.lever;
    if (row.reserved_more == kExact) {
      EXPECT_EQ(band.ReservedAtMost(kTruth), kTruth) << row.lever;
    }
    EXPECT_TRUE(band.not_measured.empty());
  }
}

TEST(PublishedErrorsTest, ManyLeversTogetherAreLessSureThanEach) {
  // For each, the worst of all rows, or 5 %, is used. The names are made up, because the table seldom has two
  // levers that are so uncertain.
  const std::vector<std::string> unsure = {"not measured", "nor this one"};
  const ErrorBand one = BandOf({unsure.data(), 1}), two = BandOf({unsure.data(), 2});
  ASSERT_GT(one.allocated_more.share, 0);
  EXPECT_GT(two.allocated_more.share, one.allocated_more.share);
  EXPECT_EQ(BandOf({}).ReservedAtMost(1000), 1000u);
}

TEST(PublishedErrorsTest, ARowOfASettingCountsForWhatBeginsWithIt) {
  for (const PublishedBounds& row : AllPublishedBounds()) {
    const std::string name = row.lever;
    const size_t equals = name.find('=');
    if (equals == std::string::npos) continue;
    const std::string changes[] = {name + ":more", name.substr(0, equals) + "=other"};
    EXPECT_EQ(BandOf({changes, 1}).cells, row.cells) << name;
    EXPECT_NE(BandOf({changes + 1, 1}).cells, row.cells) << name;
  }
}

TEST(PublishedErrorsTest, ALeverThatNobodyMeasuredIsSaidToBe) {
  const std::string lever = "no such lever=1";
  const ErrorBand band = BandOf({&lever, 1});
  EXPECT_THAT(band.not_measured, testing::ElementsAre("no such lever"));
  EXPECT_GE(band.allocated_more.share, 0.05) << "the worst of all, and this at least";
  EXPECT_GT(band.reserved_more.bytes, 0u);
}

}  // namespace
}  // namespace vramscope::whatif
