// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/shell_word.h"

#include <gtest/gtest.h>

namespace vramscope::text {
namespace {

TEST(ShellWordTest, AWordThatAShellWouldChangeStandsInQuotes) {
  EXPECT_EQ(ShellWord("job/rank-3.vms"), "job/rank-3.vms");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("my run.vms"), "'my run.vms'");
  EXPECT_EQ(ShellWord("it's.vms"), "'it'\\''s.vms'");
  EXPECT_EQ(ShellWord("$(rm -r x)`y`"), "'$(rm -r x)`y`'");
  EXPECT_EQ(ShellWord("a\nb"), "'a\nb'");
}

}  // namespace
}  // namespace vramscope::text
