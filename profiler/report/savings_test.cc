// SPDX-License-Identifier: Apache-2.0
// Which changes are worth a line. tests/html_report checks with real runs that their figures are those of the
// what-if library.
#include "profiler/report/savings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vramscope::report {
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

TEST(SavingsTest, ASettingIsNamedAlsoWhereDearerChangesSaveMore) {
  const Savings savings = {
      3,
      800,
      1000,
      {Change("checkpoint=all", 400), Change("batch=0.5x", 500), Change("optimizer=sgd", 550),
       Change("alloc-conf=expandable_segments:True", 613)}};
  EXPECT_THAT(Titles(savings),
              ElementsAre("checkpoint=all", "batch=0.5x", "alloc-conf=expandable_segments:True"));
  EXPECT_THAT(Titles(savings, 1), ElementsAre("checkpoint=all"));
  Savings little = savings;
  little.cases.back().reserved = 950;
  EXPECT_THAT(Titles(little), ElementsAre("checkpoint=all", "batch=0.5x", "optimizer=sgd"));
}

TEST(SavingsTest, LessThanAHundredthIsNotWorthALine) {
  EXPECT_THAT(Titles({3, 800, 1000, {Change("batch=0.5x", 990), Change("checkpoint=all", 1200)}}), IsEmpty());
  EXPECT_THAT(Titles({3, 800, 1000, {Change("batch=0.5x", 989)}}), ElementsAre("batch=0.5x"));
}

TEST(SavingsTest, WhatTakesMoreOfSomethingElseIsNotAdvised) {
  EXPECT_THAT(Titles({3, 800, 1000, {Change("empty-cache=after-step", 700, 801)}}), IsEmpty());
}

TEST(SavingsTest, NothingIsSavedOfNothing) { EXPECT_THAT(Titles({}), IsEmpty()); }

TEST(SavingsTest, RerunsAreAdvisedBesideAndNotInsteadOfWhatIsComputed) {
  const Savings savings = {3,
                           800,
                           1000,
                           {Change("checkpoint=all", 500), Change("optimizer=sgd", 900)},
                           {Change("amp=bf16", 400), Change("amp=fp16", 450), Change("batch=0.5x", 600),
                            Change("attention=math", 1500), Change("precision=bf16", 700)}};
  std::vector<std::string> titles;
  for (const Saving* saving : savings.Advised(2)) {
    titles.push_back(saving->title);
    EXPECT_EQ(savings.IsRerun(*saving), saving->title == "amp=bf16" || saving->title == "batch=0.5x");
  }
  EXPECT_THAT(titles, ElementsAre("amp=bf16", "checkpoint=all", "batch=0.5x", "optimizer=sgd"));
  EXPECT_THAT(Titles(savings), ElementsAre("checkpoint=all", "optimizer=sgd"));
}

}  // namespace
}  // namespace vramscope::report
