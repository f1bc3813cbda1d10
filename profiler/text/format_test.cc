// SPDX-License-Identifier: Apache-2.0
// Oracle: what a reader should see, written out.
#include "profiler/text/format.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace vramscope::text {
namespace {

TEST(FormatTest, BytesCarryBinaryUnitsAndNeverRoundUpTo1024) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(4096), "4.0 KiB");
  EXPECT_EQ(FormatBytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(FormatBytes(12'455'405'158), "11.6 GiB");
  EXPECT_EQ(FormatBytes(uint64_t{1} << 51), "2,048 TiB");
}

TEST(FormatTest, SignedBytesShowTheirSignAlsoAtTheLowestNumber) {
  EXPECT_EQ(FormatSignedBytes(0), "0 B");
  EXPECT_EQ(FormatSignedBytes(1536), "+1.5 KiB");
  EXPECT_EQ(FormatSignedBytes(-1536), "-1.5 KiB");
  EXPECT_EQ(FormatSignedBytes(INT64_MIN), "-8,388,608 TiB");
}

TEST(FormatTest, AChangeThatIsNotNoneDoesNotLookLikeNone) {
  EXPECT_EQ(FormatChange(1000, 698), "-30.2 %");
  EXPECT_EQ(FormatChange(10'000, 10'004), "+0.04 %");
  EXPECT_EQ(FormatChange(10'000, 9'994), "-0.1 %");
  EXPECT_EQ(FormatChange(1'000'000, 999'999), "under 0.01 %");
  EXPECT_EQ(FormatChange(1'000'000, 1'000'000), "no change");
  EXPECT_EQ(FormatChange(0, 512), "");
}

TEST(FormatTest, CountsAreReadableAndAgreeWithTheirNoun) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1'204'882), "1,204,882");
  EXPECT_EQ(FormatCount(1, "process", "processes"), "1 process");
  EXPECT_EQ(FormatCount(3, "process", "processes"), "3 processes");
  EXPECT_EQ(FormatCount(1000, "event"), "1,000 events");
}

TEST(FormatTest, SmallSharesAreNotShownAsNothing) {
  EXPECT_EQ(FormatPercent(59, 100), "59 %");
  EXPECT_EQ(FormatPercent(4, 1000), "0.4 %");
  EXPECT_EQ(FormatPercent(1, 1'000'000), "< 0.1 %");
  EXPECT_EQ(FormatPercent(0, 0), "0 %");
}

TEST(FormatTest, DurationsUseTheUnitThatFits) {
  EXPECT_EQ(FormatTime(420, false), "420 ns");
  EXPECT_EQ(FormatTime(1420, true), "event 1,420");
  EXPECT_EQ(FormatMoment(420, false), "420 ns after the start");
  EXPECT_EQ(FormatMoment(2, true), "event 2");
  EXPECT_EQ(FormatDuration(420), "420 ns");
  EXPECT_EQ(FormatDuration(8'100'000), "8.1 ms");
  EXPECT_EQ(FormatDuration(2'450'000'000), "2.45 s");
  EXPECT_EQ(FormatDuration(187'000'000'000), "3 min 07 s");
  EXPECT_EQ(FormatDuration(7'500'000'000'000), "2 h 05 min");
}

TEST(FormatTest, LongNamesKeepBothEnds) {
  EXPECT_EQ(Shorten("transformer.blocks.11.mlp.fc1.weight", 16, true), "trans…fc1.weight");
  EXPECT_EQ(Shorten("short", 16, true), "short");
  EXPECT_EQ(Shorten("Block.forward (/data/me/nets/gpt2.py:35)", 33, true),
            "Block.forward (…/nets/gpt2.py:35)");
  EXPECT_EQ(Shorten("Block.forward (/data/me/nets/gpt2.py:35)", 28, true), "Block.forward (…/gpt2.py:35)");
  EXPECT_EQ(Shorten("Block.forward (/data/me/nets/gpt2.py:35)", 26, true), "Block.forward (gpt2.py:35)");
  EXPECT_EQ(Shorten("Block.forward (/data/me/nets/gpt2.py:35)", 22, false), "Block.... (gpt2.py:35)");
  EXPECT_EQ(Shorten("C:\\\\nets\\\\gpt2.py:35", 16, false), "...\\\\gpt2.py:35");
  EXPECT_EQ(DisplayWidth(Shorten("äöüäöüäöüäöü", 7, false)), 7U);
}

}  // namespace
}  // namespace vramscope::text
