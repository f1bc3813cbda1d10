// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/size_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vramscope::text {
namespace {

using testing::HasSubstr;

std::string SizeComplaint(const std::string& text) {
  const Result<uint64_t> size = ParseSize("fit", text);
  return size.ok() ? "" : size.error().sentence;
}

TEST(SizeTextTest, BinaryAndDecimalUnitsAreDifferent) {
  EXPECT_EQ(*ParseSize("fit", "24GiB"), uint64_t{24} << 30);
  EXPECT_EQ(*ParseSize("fit", "24GB"), 24'000'000'000u);
  EXPECT_EQ(*ParseSize("fit", "1.5kib"), 1536u);
  EXPECT_EQ(*ParseSize("fit", "528B"), 528u);
  EXPECT_EQ(*ParseSize("fit", "2TiB"), uint64_t{2} << 40);
}

TEST(SizeTextTest, WhatCouldBeEitherIsRefusedWithWhatToWrite) {
  EXPECT_THAT(SizeComplaint("24"), HasSubstr("the unit is missing. Write 24GiB"));
  EXPECT_THAT(SizeComplaint("24G"), HasSubstr("write 24GiB (powers of 1024) or 24GB (powers of 1000)"));
  for (const char* const text :
       {"", "GiB", "0GiB", "-1GiB", "1e3GiB", "10 GiB", "10GiBs", "10xB", "nan", "0.0001B", "99999999TiB"})
    EXPECT_THAT(SizeComplaint(text), HasSubstr("needs a size like 10GiB")) << text;
}

}  // namespace
}  // namespace vramscope::text
