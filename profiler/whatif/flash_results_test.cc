// SPDX-License-Identifier: Apache-2.0
// Attention of 37 rows of 8 samples, as nn.MultiheadAttention computes it: rows come first in memory.
#include "profiler/whatif/flash_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint8_t kFloat = 6;  // c10::ScalarType
constexpr uint32_t kQueries = 0, kResult = 1, kCopy = 2;
constexpr uint64_t kBytes = 8 * 37 * 320 * 4;

const View kRowsFirst = {{8, 37, 5, 64}, {320, 2560, 64, 1}},
           kSamplesFirst = {{8, 37, 5, 64}, {11840, 320, 64, 1}};

Step Attend(const View& queries) {
  Step bare;
  bare.length = 300;
  bare.shapes.push_back({});
  Inserter into(bare, {});
  for (const Position begin : {1, 11, 21}) {
    StepBlock block;
    block.requested = kBytes, block.begin = begin, block.end = 200 + begin;
    into.AddBlock(block);
  }
  const auto call = [&](const char* name, Position at, const Operand& from, const Operand& to) {
    const uint32_t op = into.Begin(name, kNone, kNone, at, {from});
    into.End(op, at + 5, {to});
  };
  const Operand permuted = Viewed(into, kResult, {{37, 8, 5, 64}, {320, 11840, 64, 1}}, kFloat);
  call("aten::_efficient_attention_forward", 10, Viewed(into, kQueries, queries, kFloat),
       Viewed(into, kResult, kSamplesFirst, kFloat));
  call("aten::permute", 16, Viewed(into, kResult, kSamplesFirst, kFloat), permuted);
  call("aten::reshape", 20, permuted, Viewed(into, kCopy, {{296, 320}, {320, 1}}, kFloat));
  into.Save(kCopy, into.AddNode(2, 30), 30);
  return std::move(into).Finish();
}

TEST(FlashResultsTest, WhatLiesInTheWantedOrderIsNotCopied) {
  const Step step = Attend(kRowsFirst);
  Step changed = step;
  TakeResultsAsViews(step, {true, true, true}, changed);
  EXPECT_EQ(changed.blocks[kCopy].requested, 0u);
  EXPECT_EQ(changed.blocks[kResult].end, step.blocks[kCopy].end);
  EXPECT_EQ(changed.saved[0].block, kResult);
  EXPECT_THAT(StridesOf(changed, OutputsOf(changed, changed.ops[0])[0]),
              testing::ElementsAreArray(kRowsFirst.strides));
  EXPECT_EQ(OutputsOf(changed, changed.ops[2])[0].block, kResult);
}

TEST(FlashResultsTest, InFloatOrWithQueriesInAnotherOrderItIs) {
  for (const bool low : {true, false}) {
    const Step step = Attend(low ? kSamplesFirst : kRowsFirst);
    Step changed = step;
    TakeResultsAsViews(step, std::vector<bool>(3, low), changed);
    EXPECT_EQ(changed.blocks[kCopy].requested, kBytes);
    EXPECT_EQ(changed.saved[0].block, kCopy);
  }
}

}  // namespace
}  // namespace vramscope::whatif
