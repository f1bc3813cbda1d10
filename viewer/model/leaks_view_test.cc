// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/leaks_view.h"

#include <gtest/gtest.h>

#include "viewer/model/live_table.h"

namespace vramscope::viewer {
namespace {

TEST(LeaksViewTest, TheHeadlineCountsDeviceAndPinnedMemoryApart) {
  leaks::Answer answer;
  EXPECT_EQ(LeaksHeadline(answer), "Nothing grows from step to step.");
  leaks::Growth growth;
  growth.bytes_per_step = 1 << 20;
  answer.leaks = {growth, growth};
  EXPECT_EQ(LeaksHeadline(answer), "Memory grows by 2.0 MiB a step, from 2 places.");
  growth.pinned_host = true;
  answer.leaks.push_back(growth);
  EXPECT_EQ(LeaksHeadline(answer),
            "Memory grows by 2.0 MiB a step, pinned host memory by 1.0 MiB a step, from 3 places.");
  answer.leaks = {growth};
  EXPECT_EQ(LeaksHeadline(answer), "Pinned host memory grows by 1.0 MiB a step, from 1 place.");
}

TEST(LeaksViewTest, TheFilterOfAPlaceIsOneThatTheTableUnderstands) {
  leaks::Growth growth;
  EXPECT_EQ(FilterFor(growth), "");
  growth.module = "layers.3.attn";
  growth.op = "aten::softmax";
  EXPECT_EQ(FilterFor(growth), "module:layers.3.attn op:aten::softmax");
  const auto filter = RowFilter::Parse(FilterFor(growth));
  ASSERT_TRUE(filter.ok());
  LiveRow row;
  row.module = growth.module;
  row.op = growth.op;
  EXPECT_TRUE(filter->Matches(row));
  row.op = "aten::mm";
  EXPECT_FALSE(filter->Matches(row));
  growth.op = "two words";
  EXPECT_EQ(FilterFor(growth), "module:layers.3.attn");
}

}  // namespace
}  // namespace vramscope::viewer
