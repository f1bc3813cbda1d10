// SPDX-License-Identifier: Apache-2.0
// Attention of 37 rows of 8 samples, as nn.MultiheadAttention computes it: rows come first in memory.
#include "profiler/whatif/attention/flash_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint32_t kQueries = 0, kAttended = 1, kCopy = 2;
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
  const Operand permuted = Viewed(into, kAttended, {{37, 8, 5, 64}, {320, 11840, 64, 1}}, kFloat);
  call("aten::_efficient_attention_forward", 10, Viewed(into, kQueries, queries, kFloat),
       Viewed(into, kAttended, kSamplesFirst, kFloat));
  call("aten::permute", 16, Viewed(into, kAttended, kSamplesFirst, kFloat), permuted);
  call("aten::reshape", 20, permuted, Viewed(into, kCopy, {{296, 320}, {320, 1}}, kFloat));
  into.Save(kCopy, into.AddNode(2, 30), 30);
  return std::move(into).Finish();
}

TEST(FlashResultsTest, WhatLiesInTheWantedOrderIsNotCopied) {
  const Step step = Attend(kRowsFirst);
  Step changed = step;
  TakeResultsAsViews(step, {true, true, true}, changed);
  EXPECT_EQ(changed.blocks[kCopy].requested, 0u);
  EXPECT_EQ(changed.blocks[kAttended].end, step.blocks[kCopy].end);
  EXPECT_EQ(changed.saved[0].block, kAttended);
  EXPECT_THAT(StridesOf(changed, OutputsOf(changed, changed.ops[0])[0]),
              testing::ElementsAreArray(kRowsFirst.strides));
  EXPECT_EQ(OutputsOf(changed, changed.ops[2])[0].block, kAttended);
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

// The gradient of keys [batch, rows, heads, width], which the next node shows as [batch, rows, heads x
// width].
Step HandOut(const View& keys, bool with_mask) {
  constexpr uint32_t kKeys = 0, kGradient = 1;
  Step bare;
  bare.length = 300;
  bare.shapes.push_back({});
  Inserter into(bare, {});
  for (const Position begin : {1, 111}) {
    StepBlock block;
    block.requested = kBytes, block.begin = begin, block.end = 100 + begin;
    into.AddBlock(block);
  }
  const auto call = [&](const char* name, Position at, std::vector<Operand> from, std::vector<Operand> to) {
    const uint32_t op = into.Begin(name, kNone, into.AddNode(kNone, at), at, std::move(from));
    into.End(op, at + 5, std::move(to));
  };
  std::vector<Operand> given = {{}, {}, Viewed(into, kKeys, keys, kFloat), {}};
  if (with_mask) given.emplace_back();
  const Operand made = Viewed(into, kGradient, kSamplesFirst, kFloat);
  call("aten::_efficient_attention_backward", 110, given, {{}, made});
  const Operand joined = Viewed(into, kGradient, {{8, 37, 320}, {11840, 320, 1}}, kFloat);
  call("aten::reshape", 120, {made}, {joined});
  call("aten::reshape", 130, {joined}, {Viewed(into, kGradient, {{296, 320}, {320, 1}}, kFloat)});
  return std::move(into).Finish();
}

TEST(FlashResultsTest, AGradientThatLiesHeadByHeadIsCopiedWhereHeadsComeBesideEachOther) {
  const View heads_first = {{8, 37, 5, 64}, {11840, 64, 2368, 1}};
  const auto copies = [](const Step& step, bool low) {
    Step changed = step;
    CopyGradientsInOtherOrder(step, {low, low}, changed);
    return changed;
  };
  const Step copied = copies(HandOut(heads_first, false), true);
  ASSERT_EQ(copied.blocks.size(), 3u);
  EXPECT_NEAR(copied.blocks[1].end, 125, 0.2) << "behind the node that joins them";
  EXPECT_NEAR(copied.blocks[2].begin, 120, 0.2);
  EXPECT_EQ(copied.blocks[2].end, 211) << "where the gradient went";
  EXPECT_EQ(copied.blocks[2].requested, kBytes);
  Step back = copied;
  TakeBackGradientCopies(copied, {1}, back);
  EXPECT_EQ(back.blocks[1].end, 211) << "another kernel";
  EXPECT_EQ(back.blocks[2].requested, 0u);
  EXPECT_EQ(copies(HandOut(kSamplesFirst, false), true).blocks.size(), 2u) << "rows come first";
  EXPECT_EQ(copies(HandOut(heads_first, true), true).blocks.size(), 2u) << "flash attention takes no mask";
  EXPECT_EQ(copies(HandOut(heads_first, false), false).blocks.size(), 2u) << "in float32";
}

// Of keys that were converted for attention it is converted back before.
TEST(FlashResultsTest, SoIsWhatIsMadeOfSuchAGradientInAnotherType) {
  const Step step = HandOut({{8, 37, 5, 64}, {11840, 64, 2368, 1}}, false);
  Step changed = step;
  changed.blocks[1].requested = kBytes / 2, changed.blocks[1].end = 117;
  StepBlock wide = CopyOf(step, 1);
  wide.requested = kBytes, wide.begin = 116, wide.end = 211;
  changed.blocks.push_back(wide);
  CopyGradientsInOtherOrder(step, {true, true}, changed);
  ASSERT_EQ(changed.blocks.size(), 4u);
  EXPECT_EQ(changed.blocks[1].end, 117);
  EXPECT_NEAR(changed.blocks[2].end, 125, 0.2);
  EXPECT_NEAR(changed.blocks[3].begin, 120, 0.2);
  EXPECT_EQ(changed.blocks[3].end, 211);
  EXPECT_EQ(changed.blocks[3].requested, kBytes);
}

// The gradient of queries [batch, rows, heads, width], as nn.MultiheadAttention takes it back to rows of
// samples: it puts samples and heads together, then rows first.
Step HandBack(const View& queries) {
  constexpr uint32_t kGradient = 1, kTogether = 2, kJoined = 3;
  Step bare = BareStep(nullptr);
  bare.length = 300;
  Inserter into(bare, {});
  for (const Position begin : {1, 111, 121, 141}) {
    StepBlock block;
    block.requested = kBytes, block.begin = begin, block.end = 100 + begin;
    into.AddBlock(block);
  }
  const auto call = [&](const char* name, Position at, std::vector<Operand> from, const Operand& to) {
    const uint32_t op = into.Begin(name, kNone, into.AddNode(kNone, at), at, std::move(from));
    into.End(op, at + 5, {to});
  };
  const auto show = [&](uint32_t block, const View& view) { return Viewed(into, block, view, kFloat); };
  const Operand turned = show(kTogether, {{37, 40, 64}, {64, 2368, 1}});
  call("aten::_efficient_attention_backward", 110, {{}, Viewed(into, 0, queries, kFloat), {}, {}},
       show(kGradient, kSamplesFirst));
  call("aten::reshape", 120, {show(kGradient, {{8, 5, 37, 64}, {11840, 64, 320, 1}})},
       show(kTogether, {{40, 37, 64}, {2368, 64, 1}}));
  call("aten::transpose", 130, {show(kTogether, {{40, 37, 64}, {2368, 64, 1}})}, turned);
  call("aten::reshape", 140, {turned}, show(kJoined, {{37, 8, 320}, {2560, 320, 1}}));
  return std::move(into).Finish();
}

TEST(FlashResultsTest, AGradientThatLiesRowsFirstIsNotCopiedOnItsWayBackToThem) {
  const auto views = [](const View& queries, bool low) {
    const Step step = HandBack(queries);
    Step changed = step;
    TakeGradientsAsViews(step, std::vector<bool>(4, low), changed);
    return changed;
  };
  const Step viewed = views(kRowsFirst, true);
  EXPECT_EQ(viewed.blocks[2].requested, 0u);
  EXPECT_EQ(viewed.blocks[3].requested, 0u);
  EXPECT_EQ(viewed.blocks[1].end, 241) << "where the last copy went";
  EXPECT_EQ(OutputsOf(viewed, viewed.ops[3])[0].block, 1u);
  for (const Step& copied : {views(kSamplesFirst, true), views(kRowsFirst, false)}) {
    EXPECT_EQ(copied.blocks[2].requested, kBytes);
    EXPECT_EQ(copied.blocks[3].requested, kBytes);
  }
}

}  // namespace
}  // namespace vramscope::whatif
