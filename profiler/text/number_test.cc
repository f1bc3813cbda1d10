// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace vramscope::text {
namespace {

TEST(NumberTest, TheWholeTextMustBeTheNumber) {
  EXPECT_EQ(ParseNumber<uint32_t>("42"), 42u);
  EXPECT_EQ(ParseNumber<int64_t>("-42"), -42);
  EXPECT_EQ(ParseNumber<double>("1.5"), 1.5);
  for (const char* const text : {"", " 42", "42 ", "42x", "+42", "4 2", "x"})
    EXPECT_FALSE(ParseNumber<uint32_t>(text).has_value()) << '"' << text << '"';
}

TEST(NumberTest, WhatTheTypeCannotHoldIsNoNumber) {
  EXPECT_EQ(ParseNumber<uint16_t>("65535"), 65535);
  EXPECT_FALSE(ParseNumber<uint16_t>("65536").has_value());
  EXPECT_FALSE(ParseNumber<uint32_t>("-1").has_value());
  EXPECT_FALSE(ParseNumber<uint64_t>("1.5").has_value());
}

TEST(NumberTest, APartOfALongerTextIsReadToItsOwnEnd) {
  const std::string_view text = "17:23";
  EXPECT_EQ(ParseNumber<int>(text.substr(0, 2)), 17);
  EXPECT_EQ(ParseNumber<int>(text.substr(3)), 23);
}

}  // namespace
}  // namespace vramscope::text
