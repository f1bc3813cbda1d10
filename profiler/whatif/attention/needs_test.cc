// SPDX-License-Identifier: Apache-2.0
// What kernels of attention take beside their results, as PyTorch asked the device for it.
#include <gtest/gtest.h>

#include "profiler/whatif/attention/attention.h"

namespace vramscope::whatif {
namespace {

TEST(AttentionTest, NeedsAreThoseThatPyTorchAskedFor) {
  AttentionCall call;
  call.heads = 2;
  call.rows = call.columns = 200;
  call.element = 2;
  call.width = 40;
  EXPECT_EQ(FlashNeedsOf(call, 108).sums, 2048u);
  EXPECT_EQ(FlashNeedsOf(call, 108).queries, 131072u);
  EXPECT_EQ(FlashNeedsOf(call, 108).split_sums, 0u);
  EXPECT_EQ(EfficientWorkspace(call), 131200u);
  call.width = 192;
  EXPECT_EQ(FlashNeedsOf(call, 108).split_sums, 6400u);
  EXPECT_EQ(FlashNeedsOf(call, 108).split_outputs, 1228800u);
  call.width = 128;
  EXPECT_EQ(EfficientWorkspace(call), 262208u);
  call.element = 4;
  EXPECT_EQ(EfficientWorkspace(call), 262272u);
  call.width = 64;
  call.rows = call.columns = 2000;
  EXPECT_EQ(FlashNeedsOf(call, 108).split_sums, 48000u);
  call.dropout = true;
  EXPECT_EQ(FlashNeedsOf(call, 108).split_sums, 0u);
}

}  // namespace
}  // namespace vramscope::whatif
