// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/ask/plan_verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vramscope::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RecordedCommandTest, IsShownAndNotRunUnlessThatWasAskedFor) {
  const std::string named = "python train.py --lr 1";
  EXPECT_THAT(RecordedCommand(named, false).error().sentence, HasSubstr("\"python train.py --lr 1\""));
  EXPECT_THAT(RecordedCommand(named, false).error().sentence, HasSubstr("--run-recorded"));
  EXPECT_THAT(RecordedCommand(named, true).value(), ElementsAre("python", "train.py", "--lr", "1"));
}

TEST(RecordedCommandTest, IsNotGuessedFromWordsThatAShellWouldReadOtherwise) {
  EXPECT_FALSE(RecordedCommand("python -c 'import x'", true).ok());
  EXPECT_FALSE(RecordedCommand("", true).ok());
  EXPECT_THAT(RecordedCommand("", false).error().sentence, HasSubstr("give the command after --"));
}

}  // namespace
}  // namespace vramscope::cli
