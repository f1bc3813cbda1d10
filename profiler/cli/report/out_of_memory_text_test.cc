// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/report/out_of_memory_text.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

namespace vramscope::cli {
namespace {

using ::testing::HasSubstr;

std::vector<report::OutOfMemory> Failures(size_t count) {
  std::vector<report::OutOfMemory> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = {.device = "cuda:0", .requested_bytes = i};
  return all;
}

std::string Text(size_t count) { return OutOfMemoryText(Failures(count), Terminal{}); }

TEST(OutOfMemoryTextTest, AFewAreAllShown) {
  EXPECT_EQ(Text(0), "");
  EXPECT_EQ(std::ranges::count(Text(10), '\n'), 10);
}

TEST(OutOfMemoryTextTest, OfManyTheFirstAndTheLastAreShownAndTheOthersCounted) {
  const std::string text = Text(1'000'010);
  EXPECT_EQ(std::ranges::count(text, '\n'), 11);
  EXPECT_THAT(text, HasSubstr("4 B were requested.\n... 1,000,000 more such errors ...\n"));
}

}  // namespace
}  // namespace vramscope::cli
