// SPDX-License-Identifier: Apache-2.0
#include "trace_format/result.h"

#include <gtest/gtest.h>

namespace vramscope {
namespace {

TEST(ResultTest, HoldsAValueOrASentence) {
  const Result<int> value = 7;
  EXPECT_TRUE(value.ok());
  EXPECT_EQ(*value, 7);
  const Result<int> failed = Error{"run.vms: not found."};
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().sentence, "run.vms: not found.");
}

// In release builds too: what comes after would read memory that nobody wrote.
TEST(ResultDeathTest, ReadingTheValueOfAFailedResultEndsTheProgram) {
  const Result<int> failed = Error{"run.vms: not found."};
  EXPECT_DEATH((void)failed.value(), "vramscope: internal error: result.h:[0-9]+: ok\\(\\)");
  EXPECT_DEATH((void)Result<int>(7).error(), "internal error");
  EXPECT_DEATH((void)Status().error(), "internal error");
}

}  // namespace
}  // namespace vramscope
