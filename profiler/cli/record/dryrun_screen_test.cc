// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/record/dryrun_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

namespace vramscope::cli {

using experiment::OtherBound;

namespace {

using testing::HasSubstr;
using testing::Not;

DryrunResult Fitting() {
  DryrunResult result;
  result.used_device = true;
  result.device.gpu.name = "a100-40gb";
  result.ledger.capacity_bytes = uint64_t{1} << 30;
  result.ledger.peak_bytes = uint64_t{900} << 20;
  result.ledger.entries = {{"libc10_cuda.so", "cudaMalloc", 400 << 20, "exact", 400 << 20, 400 << 20},
                           {"", "context", 500 << 20, "derived", 450 << 20, 550 << 20}};
  return result;
}

TEST(DryrunScreenTest, SaysHowAFigureIsKnownThatPyTorchDidNotAskFor) {
  const std::string text = VerdictText(Fitting(), Terminal{});
  EXPECT_THAT(text, HasSubstr("derived: 450.0 MiB to 550.0 MiB"));
  EXPECT_THAT(text, Not(HasSubstr("exact")));
  EXPECT_THAT(text, HasSubstr("124.0 MiB left.\n"));
}

TEST(DryrunScreenTest, SaysThatNothingWasComputed) {
  EXPECT_THAT(
      VerdictText(Fitting(), Terminal{}),
      HasSubstr("Simulated: PyTorch itself allocates. Results are not computed, and data-dependent sizes"));
}

TEST(DryrunScreenTest, SaysWhyKerasRanWithoutXla) {
  EXPECT_THAT(VerdictText(Fitting(), Terminal{}), Not(HasSubstr("XLA")));
  DryrunResult result = Fitting();
  result.without_xla = "of --xla off";
  EXPECT_THAT(VerdictText(result, Terminal{}), HasSubstr("Keras ran without XLA, because of --xla off.\n"));
  EXPECT_THAT(VerdictJson(result), HasSubstr("\"without_xla\": \"of --xla off\""));
}

TEST(DryrunScreenTest, SaysThatARangeReachesBeyondTheGpu) {
  DryrunResult result = Fitting();
  result.ledger.entries.back().high_bytes = 700 << 20;
  EXPECT_THAT(VerdictText(result, Terminal{}),
              HasSubstr("left; the ranges below may add more than what is left."));
}

TEST(DryrunScreenTest, NamesWhatDidNotFitBesidePyTorch) {
  DryrunResult result = Fitting();
  result.fits = false;
  result.refused_beside = "ring";
  result.shortfall_bytes = 12 << 20;
  EXPECT_THAT(VerdictText(result, Terminal{}),
              HasSubstr("Does not fit on a100-40gb (1.0 GiB): no room for ring, at least 12.0 MiB missing."));
}

TEST(DryrunScreenTest, TheWorkspacesFitANarrowTerminal) {
  DryrunResult result = Fitting();
  result.workspaces = {false, true, (uint64_t{1000} << 30) - 1};
  result.uncounted = {true, true};
  std::istringstream lines(VerdictText(result, Terminal{}));
  size_t found = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("orkspaces") == std::string::npos && line.find("cuDNN") == std::string::npos) continue;
    EXPECT_LE(line.size(), 80u) << line;
    ++found;
  }
  EXPECT_EQ(found, 3u);
}

TEST(DryrunScreenTest, WhatTheCommandDidNotLiveToSeeIsNotJudged) {
  DryrunResult result = Fitting();
  result.wait_status = 7 << 8;
  EXPECT_THAT(
      VerdictText(result, Terminal{}),
      HasSubstr("No verdict for a100-40gb (1.0 GiB): the command failed with exit code 7. Peak device "
                "memory in this run: 900.0 MiB.\n"));
  result.wait_status = SIGKILL;
  EXPECT_THAT(VerdictText(result, Terminal{}), HasSubstr("the command was ended by signal 9 (Killed)."));
  EXPECT_THAT(VerdictJson(result), HasSubstr("\"fits\": null"));
}

TEST(DryrunScreenTest, MemoryThatDependsOnDataLiesBetweenBounds) {
  DryrunResult result = Fitting();
  result.upper = OtherBound{{1, true}, true, 500 << 20, 520 << 20, 950 << 20};
  EXPECT_THAT(VerdictText(result, Terminal{}),
              HasSubstr("900.0 MiB to 950.0 MiB used at most, 74.0 MiB left"));
  result.upper->fits = false;
  EXPECT_THAT(VerdictText(result, Terminal{}),
              HasSubstr("Whether the command fits on a100-40gb (1.0 GiB) depends on the data"));
  EXPECT_THAT(VerdictJson(result), HasSubstr("\"not_judged_because\": \"it depends on the data\""));
  result.upper->fits = std::nullopt;
  EXPECT_THAT(VerdictText(result, Terminal{}), HasSubstr("Fits on a100-40gb"));
}

}  // namespace
}  // namespace vramscope::cli
