// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/failure.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace vramscope::text {
namespace {

TEST(FailureTest, MemoryThatIsNotThereIsNoFaultOfOurs) {
  const std::string sentence =
      "there is not enough memory for report run.vms. Use a machine with more memory, or raise the limit "
      "(ulimit -v).";
  EXPECT_EQ(SentenceOf(std::bad_alloc(), "report run.vms"), sentence);
  EXPECT_EQ(SentenceOf(std::length_error("vector"), "report run.vms"), sentence);
  EXPECT_EQ(SentenceOf(std::out_of_range("map::at"), "report run.vms"),
            "map::at. This is a bug in vramscope; please report it.");
}

}  // namespace
}  // namespace vramscope::text
