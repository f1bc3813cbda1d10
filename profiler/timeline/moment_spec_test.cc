// SPDX-License-Identifier: Apache-2.0
#include "profiler/timeline/moment_spec.h"

#include <gtest/gtest.h>

namespace vramscope::timeline {
namespace {

using Kind = MomentSpec::Kind;

TEST(MomentSpecTest, EveryWordThatTheHelpNamesIsAMoment) {
  const std::pair<const char*, std::pair<Kind, uint64_t>> kMoments[] = {
      {"peak", {Kind::kPeak, 0}},       {"reserved", {Kind::kReserved, 0}},
      {"worst", {Kind::kWorst, 0}},     {"end", {Kind::kEnd, 0}},
      {"oom", {Kind::kOutOfMemory, 0}}, {"oom:2", {Kind::kOutOfMemory, 2}},
      {"step:3", {Kind::kStep, 3}},     {"event:1200", {Kind::kEvent, 1200}},
      {"event:0", {Kind::kEvent, 0}},   {"1500000", {Kind::kTime, 1500000}},
      {"mono:7", {Kind::kMonotonic, 7}}};
  for (const auto& [text, expected] : kMoments) {
    const Result<MomentSpec> spec = ParseMoment(text);
    ASSERT_TRUE(spec.ok()) << text;
    EXPECT_EQ(spec->kind, expected.first) << text;
    EXPECT_EQ(spec->value, expected.second) << text;
    EXPECT_EQ(spec->text, text);
  }
}

TEST(MomentSpecTest, OtherWordsAreRefused) {
  for (const char* text :
       {"", "peaks", "step:", "step:0", "step:x", "oom:0", "-1", "1.5", "event:", "18446744073709551616"})
    EXPECT_FALSE(ParseMoment(text).ok()) << text;
}

}  // namespace
}  // namespace vramscope::timeline
