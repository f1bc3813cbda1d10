// SPDX-License-Identifier: Apache-2.0
#include "injector/core/options.h"

#include <gtest/gtest.h>

#include "injector/core/test_session.h"

namespace vramscope::injector {
namespace {

TEST(OptionsTest, AValueIsFoundByItsWholeKey) {
  const ScopedOptions with("xdevice=no;device=cuda;devices=many;empty=;last=7");
  char value[16];
  EXPECT_EQ(Option("device", value, sizeof value), 4u);
  EXPECT_STREQ(value, "cuda");
  EXPECT_TRUE(OptionIs("last", "7"));
  EXPECT_EQ(OptionNumber("last", 1), 7u);
}

TEST(OptionsTest, AnAbsentOrEmptyValueIsEmpty) {
  const ScopedOptions with("empty=;flag");
  char value[16] = "before";
  EXPECT_EQ(Option("empty", value, sizeof value), 0u);
  EXPECT_STREQ(value, "");
  EXPECT_EQ(Option("flag", value, sizeof value), 0u);
  EXPECT_EQ(OptionNumber("nothing", 5), 5u);
}

TEST(OptionsTest, AValueThatDoesNotFitIsCutAndTerminated) {
  const ScopedOptions with("bridge=/a/long/path.so");
  char value[5];
  EXPECT_EQ(Option("bridge", value, sizeof value), 4u);
  EXPECT_STREQ(value, "/a/l");
}

}  // namespace
}  // namespace vramscope::injector
