// SPDX-License-Identifier: Apache-2.0
// Which changes are worth a line. That their figures are those of the what-if library is tested where runs
// are real (tests/html_report).
#include "profiler/whatif/answer/savings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vramscope::whatif {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Saving Change(const char* title, uint64_t reserved, uint64_t allocated = 500, size_t levers = 1) {
  Saving saving;
  saving.title = title;
  saving.levers = levers;
  saving.reserved = reserved;
  saving.allocated = allocated;
  return saving;
}

std::vector<std::string> Titles(const Savings& savings, size_t most = 3) {
  std::vector<std::string> titles;
  for (const Saving* saving : savings.Worthwhile(most)) titles.push_back(saving->title);
  return titles;
}

TEST(SavingsTest, TheBestOfEachSingleChangeIsNamed) {
  const Savings savings = {3,
                           800,
                           1000,
                           {Change("batch=0.5x checkpoint=all", 300, 300, 2), Change("checkpoint=all", 400),
                            Change("checkpoint=every:2", 500), Change("batch=0.5x", 600),
                            Change("accumulate=2", 700), Change("optimizer=sgd", 800)}};
  EXPECT_THAT(Titles(savings), ElementsAre("checkpoint=all", "batch=0.5x", "accumulate=2"));
  EXPECT_THAT(Titles(savings, 1), ElementsAre("checkpoint=all"));
}

TEST(SavingsTest, LessThanAHundredthIsNotWorthALine) {
  EXPECT_THAT(Titles({3, 800, 1000, {Change("batch=0.5x", 990), Change("checkpoint=all", 1200)}}), IsEmpty());
  EXPECT_THAT(Titles({3, 800, 1000, {Change("batch=0.5x", 989)}}), ElementsAre("batch=0.5x"));
}

TEST(SavingsTest, WhatTakesMoreOfSomethingElseIsNotAdvised) {
  EXPECT_THAT(Titles({3, 800, 1000, {Change("empty-cache=after-step", 700, 801)}}), IsEmpty());
}

TEST(SavingsTest, NothingIsSavedOfNothing) { EXPECT_THAT(Titles({}), IsEmpty()); }

}  // namespace
}  // namespace vramscope::whatif
