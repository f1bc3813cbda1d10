// SPDX-License-Identifier: Apache-2.0
// Oracle: PyTorch's own parsers (c10/core/AllocatorConfig.cpp, c10/cuda/CUDAAllocatorConfig.cpp) and their
// messages.
#include "profiler/allocator/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vramscope::allocator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Settings Parsed(std::string_view text, std::string_view version = "") {
  const Result<Settings> settings = ParseSettings(text, ReleaseOf(version));
  EXPECT_TRUE(settings.ok()) << settings.error().sentence;
  return settings.ok() ? *settings : Settings{};
}

std::string Refusal(std::string_view text, std::string_view version = "") {
  const Result<Settings> settings = ParseSettings(text, ReleaseOf(version));
  EXPECT_FALSE(settings.ok()) << text;
  return settings.ok() ? "" : settings.error().sentence;
}

TEST(SettingsTest, KnowsEveryDeviceKeyOfTheNewestRelease) {
  const Settings settings = Parsed(
      "max_split_size_mb:64, max_non_split_rounding_mb:32, "
      "garbage_collection_threshold:0.8,expandable_segments:True,"
      "large_segment_size_mb:24,per_process_memory_fraction:0.5,throw_on_cudamalloc_oom:True,release_lock_on_"
      "cudamalloc:True,"
      "graph_capture_record_stream_reuse:True,expandable_segments_reserve:40G,backend:native");
  EXPECT_EQ(settings.max_split_bytes, 64 * kMiB);
  EXPECT_EQ(settings.max_non_split_rounding_bytes, 32 * kMiB);
  EXPECT_EQ(settings.large_segment_bytes, 24 * kMiB);
  EXPECT_EQ(settings.garbage_collection_threshold, 0.8);
  EXPECT_EQ(settings.per_process_memory_fraction, 0.5);
  EXPECT_TRUE(settings.expandable_segments && settings.throw_on_cudamalloc_oom &&
              settings.release_lock_on_cudamalloc);
  EXPECT_TRUE(settings.graph_capture_record_stream_reuse);
  ASSERT_TRUE(settings.expandable_reserve.has_value());
  EXPECT_FALSE(settings.expandable_reserve->is_share);
  EXPECT_EQ(settings.expandable_reserve->value, 40);
}

TEST(SettingsTest, NamesTheKeyThatTheReleaseDoesNotKnow) {
  EXPECT_THAT(Refusal("max_split_size:64"), HasSubstr("max_split_size:"));
  EXPECT_THAT(Refusal("expandable_segments:True", "1.13.1"), HasSubstr("expandable_segments"));
  EXPECT_THAT(Refusal("max_non_split_rounding_mb:32", "2.2.2"), HasSubstr("max_non_split_rounding_mb"));
  EXPECT_THAT(Refusal("roundup_bypass_threshold_mb:64", "2.0.1"), HasSubstr("roundup_bypass_threshold_mb"));
  EXPECT_THAT(Refusal("large_segment_size_mb:32", "2.6.0+cu124"), HasSubstr("large_segment_size_mb"));
}

TEST(SettingsTest, RefusesWhatPyTorchRefuses) {
  EXPECT_THAT(Refusal("expandable_segments:true"), HasSubstr("True or False"));
  EXPECT_THAT(Refusal("max_split_size_mb:20", "2.6.0"), HasSubstr("at least 21"));
  EXPECT_EQ(Parsed("max_split_size_mb:20", "2.9.0").max_split_bytes, 20 * kMiB);
  EXPECT_THAT(Refusal("max_split_size_mb:23,large_segment_size_mb:24"), HasSubstr("at least 24"));
  EXPECT_THAT(Refusal("large_segment_size_mb:10"), HasSubstr("above 10"));
  EXPECT_THAT(Refusal("garbage_collection_threshold:1.0"), HasSubstr("between 0 and 1"));
  EXPECT_THAT(Refusal("roundup_power2_divisions:3"), HasSubstr("power of two"));
  EXPECT_THAT(Refusal("roundup_power2_divisions:[256:1"), HasSubstr("bracket"));
  EXPECT_THAT(Refusal("expandable_segments"), HasSubstr("value is missing"));
  EXPECT_THAT(Refusal("pinned_reserve_segment_size_mb:0"), HasSubstr("above 0"));
  EXPECT_THAT(Refusal("expandable_segments_reserve_by_class:[capture]"), HasSubstr("needs a list"));
  EXPECT_THAT(Refusal("expandable_segments:True max_split_size_mb:64"), HasSubstr("expandable_segments"));
}

TEST(SettingsTest, ReadsOverWrongPunctuationAsPyTorchDoesAndSaysSo) {
  constexpr std::string_view kText = "max_split_size_mb:64:garbage_collection_threshold,0.5";
  const Settings settings = Parsed(kText);
  EXPECT_EQ(settings.max_split_bytes, 64 * kMiB);
  EXPECT_EQ(settings.garbage_collection_threshold, 0.5);
  EXPECT_THAT(settings.notes,
              ElementsAre(HasSubstr("where a \",\" belongs"), HasSubstr("where a \":\" belongs")));
  EXPECT_THAT(Refusal(kText, "2.6.0"), HasSubstr("expected a comma"));
}

// PyTorch parses numbers with std::stoull and std::stod, which stop at the first character that is not part
// of one.
TEST(SettingsTest, ReadsNumbersAsPyTorchDoesAndSaysSo) {
  const Settings settings = Parsed("max_split_size_mb:64MB,garbage_collection_threshold:.5x");
  EXPECT_EQ(settings.max_split_bytes, 64 * kMiB);
  EXPECT_EQ(settings.garbage_collection_threshold, 0.5);
  EXPECT_THAT(settings.notes,
              ElementsAre(HasSubstr("PyTorch reads \"64\""), HasSubstr("PyTorch reads \".5\"")));
  EXPECT_GT(Parsed("max_split_size_mb:-1").max_split_bytes, uint64_t{1} << 60);
  EXPECT_THAT(Refusal("max_split_size_mb:99999999999999999999"), HasSubstr("too large"));
  EXPECT_THAT(Refusal("max_split_size_mb:2147483648", "2.6.0"), HasSubstr("too large"));
  EXPECT_THAT(Refusal("garbage_collection_threshold:nan"), HasSubstr("between 0 and 1"));
}

TEST(SettingsTest, FillsTheBucketsOfAListAsTheReleaseDoes) {
  // [256:1,512:2,1024:4,>:8]: up to 2.8 the open end overwrites the last key; later it begins after it.
  constexpr std::string_view kList = "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]";
  EXPECT_THAT(Parsed(kList, "2.6.0").roundup_power2_divisions,
              ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 8, 8, 8, 8, 8, 8));
  EXPECT_THAT(Parsed(kList, "2.9.0").roundup_power2_divisions,
              ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8));
  EXPECT_THAT(Parsed("roundup_power2_divisions:[64:8,1024:2]").roundup_power2_divisions,
              ElementsAre(8, 8, 8, 8, 8, 8, 8, 0, 0, 0, 2, 0, 0, 0, 0, 0));
}

TEST(SettingsTest, NotesHostOptionsAndHasNoUseForThem) {
  const Settings settings = Parsed("pinned_num_register_threads:8,pinned_use_background_threads:True");
  EXPECT_THAT(settings.notes, ElementsAre("pinned_num_register_threads: of pinned host memory, ignored",
                                          "pinned_use_background_threads: of pinned host memory, ignored"));
}

TEST(SettingsTest, ChangingThemPutsBackOnlyWhatPyTorchPutsBack) {
  const Release& release = ReleaseOf("2.6.0");
  const Settings old =
      Parsed("expandable_segments:True,max_split_size_mb:64,max_non_split_rounding_mb:32", "2.6.0");
  const Result<Settings> changed = ChangeSettings(old, "garbage_collection_threshold:0.5", release);
  ASSERT_TRUE(changed.ok());
  EXPECT_TRUE(changed->expandable_segments);
  EXPECT_EQ(changed->max_split_bytes, kUnlimited);
  EXPECT_EQ(changed->max_non_split_rounding_bytes, 32 * kMiB);
}

TEST(ReleaseTest, IsTheLastSetOfRulesNotNewerThanTheVersion) {
  EXPECT_EQ(ReleaseOf("1.13.1+cu117").name, "1.13");
  EXPECT_EQ(ReleaseOf("2.2.2").name, "2.1");
  EXPECT_EQ(ReleaseOf("2.6.0+cu124").name, "2.5");
  EXPECT_EQ(ReleaseOf("2.15.0+cu132").name, Releases().back().name);
  EXPECT_EQ(ReleaseOf("").name, Releases().back().name);
  EXPECT_EQ(ReleaseOf("nightly").name, Releases().back().name);
}

}  // namespace
}  // namespace vramscope::allocator
