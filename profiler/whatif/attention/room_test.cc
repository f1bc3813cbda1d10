// SPDX-License-Identifier: Apache-2.0
// A mask that two calls of memory-efficient attention keep for backward, written down by hand as TimesFM has
// it.
#include "profiler/whatif/attention/room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/step/insert.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr Position kBehindMask = 22, kReleased[] = {190, 150};  // of the first call last

Step Bare(bool backward) {
  Step bare;
  bare.length = 300;
  bare.shapes.push_back({});
  if (backward) bare.backward.push_back({100, 200});
  return bare;
}

Step TwoCalls(Position mask_ends) {
  const Step bare = Bare(true);
  Inserter into(bare, {});
  StepBlock mask;
  mask.requested = 4096, mask.begin = 1, mask.end = mask_ends;
  const uint32_t kept = into.AddBlock(mask);
  for (const Position at : {10, 20}) {
    const uint32_t op =
        into.Begin("aten::scaled_dot_product_attention", kNone, kNone, at, {into.Matrix(kept, 32, 32)});
    into.End(op, at + 2, {});
    const uint32_t node = into.AddNode(op, at);
    into.Save(kept, node, at);
    into.step().saved.back().released = kReleased[node];
  }
  return std::move(into).Finish();
}

AttentionCall CallOf(uint32_t number) {
  AttentionCall call;
  call.nodes = {number};
  call.first = number, call.last = number + 1;
  call.forward = {10.0 + 10 * number, 12.0 + 10 * number};
  call.backward = {kReleased[number] - 8, kReleased[number] + 1};
  call.output = 0;
  return call;
}

TEST(AttentionRoomTest, AMaskGoesWithTheLastCallThatStillKeepsIt) {
  const Step step = TwoCalls(kReleased[0] + 1);
  Step changed = step;
  const AttentionCall first = CallOf(0), second = CallOf(1);
  const AttentionRoom of_first(step, first, changed);
  EXPECT_NEAR(changed.blocks[0].end, kReleased[1], 1e-3);
  const AttentionRoom of_second(step, second, changed);
  EXPECT_LE(changed.blocks[0].end, kBehindMask + 1) << "nobody does";
}

TEST(AttentionRoomTest, AMaskThatTheProgramHoldsStays) {
  const Step step = TwoCalls(250);
  Step changed = step;
  for (const uint32_t number : {0u, 1u}) {
    const AttentionCall call = CallOf(number);
    const AttentionRoom room(step, call, changed);
  }
  EXPECT_EQ(changed.blocks[0].end, 250);
}

// queries, keys, values = projected.split(32, -1)
TEST(AttentionRoomTest, TheResultLiesAsWhatIsBehindTheCallSeesIt) {
  const Step bare = Bare(false);
  Inserter into(bare, {});
  StepBlock block;
  block.begin = 1, block.end = 200;
  const uint32_t projected = into.AddBlock(block), result = into.AddBlock(block);
  Operand query = into.Matrix(projected, 32, 32);
  query.strides = into.ShapeOf({96, 1});
  into.End(into.Begin("aten::scaled_dot_product_attention", kNone, kNone, 10, {query}), 12,
           {into.Matrix(result, 32, 32)});
  into.End(into.Begin("aten::view", kNone, kNone, 20, {into.Matrix(result, 32, 32)}), 22, {});
  const Step step = std::move(into).Finish();
  AttentionCall call = CallOf(0);
  call.nodes.clear();
  call.query = query, call.output = result;
  Step changed = step;
  AttentionRoom(step, call, changed).Name("aten::_scaled_dot_product_attention_math");
  EXPECT_THAT(StridesOf(changed, OutputsOf(changed, changed.ops[0])[0]), testing::ElementsAre(32, 1));
}

// attend(query, key, value).permute(1, 0, 2, 3).contiguous()
TEST(AttentionRoomTest, WhatOneKernelHasCopiedAnotherThatReturnsTheSameHasToo) {
  const auto joined = [](AttentionKernel recorded) {
    const Step bare = Bare(false);
    Inserter into(bare, {});
    StepBlock block;
    block.requested = 4096, block.begin = 1, block.end = 200;
    const uint32_t query = into.AddBlock(block), result = into.AddBlock(block), copy = into.AddBlock(block);
    AttentionCall call = CallOf(0);
    call.nodes.clear();
    call.kernel = recorded, call.query = into.Matrix(query, 32, 32), call.output = result;
    call.forward = {10, 12};
    into.End(into.Begin("aten::scaled_dot_product_attention", kNone, kNone, 10, {call.query}), 12,
             {into.Matrix(result, 32, 32)});
    into.End(into.Begin("aten::clone", kNone, kNone, 20, {into.Matrix(result, 32, 32)}), 22,
             {into.Matrix(copy, 32, 32)});
    const Step step = std::move(into).Finish();
    Step changed = step;
    AttentionRoom room(step, call, changed);
    room.JoinCopies();
    return room.output() == copy;
  };
  EXPECT_TRUE(joined(AttentionKernel::kMath)) << "products return heads first";
  EXPECT_FALSE(joined(AttentionKernel::kEfficient));
}

// nn.MultiheadAttention: x.view(2, 4, 16, 8), whose gradient lies with rows before heads in one kernel's
// result, and is copied to be seen as [8, 16, 8].
TEST(AttentionRoomTest, WhatOneKernelsGradientIsCopiedForAProductsLiesSoAlready) {
  const auto joined = [](const char* asker) {
    const Step bare = Bare(true);
    Inserter into(bare, {});
    StepBlock block;
    block.requested = 4096, block.begin = 1, block.end = 200;
    AttentionCall call = CallOf(0);
    call.output = into.AddBlock(block);
    const uint32_t gradient = into.AddBlock(block), copy = into.AddBlock(block);
    call.gradients = {gradient};
    const auto seen = [&](uint32_t of, const std::vector<int64_t>& sizes,
                          const std::vector<int64_t>& strides) {
      Operand operand = into.Matrix(of, 1, 1);
      operand.shape = into.ShapeOf(sizes), operand.strides = into.ShapeOf(strides);
      return operand;
    };
    const Operand made = seen(gradient, {2, 4, 16, 8}, {512, 8, 32, 1});
    const Operand copied = seen(copy, {2, 4, 16, 8}, {512, 128, 8, 1});
    const uint32_t op = into.Begin("aten::scaled_dot_product_attention", kNone, kNone, 10, {});
    into.End(op, 12, {});
    const uint32_t node = into.AddNode(op, 11);
    into.End(into.Begin("backward", kNone, node, 185, {}), 187, {made});
    const uint32_t asks = into.Begin(asker, kNone, kNone, 195, {made});
    into.End(into.Begin("aten::clone", asks, kNone, 195.2, {made}), 195.4, {copied});
    into.End(asks, 196, {seen(copy, {8, 16, 8}, {128, 8, 1})});
    const Step step = std::move(into).Finish();
    Step changed = step;
    AttentionRoom room(step, call, changed);
    room.SplitCopies();
    return room.gradients()[0] == copy;
  };
  EXPECT_TRUE(joined("aten::reshape"));
  EXPECT_FALSE(joined("aten::flip")) << "that makes another one of whatever it is given";
}

// Of 32 rows that look at 16 others, as a decoder at what an encoder made.
TEST(AttentionRoomTest, GradientsAreAsLargeAsWhatTheyAreGradientsOf) {
  const Step bare = Bare(true);
  Inserter into(bare, {});
  StepBlock block;
  block.begin = 1, block.end = 200;
  AttentionCall call = CallOf(0);
  const auto rows = [&](int64_t count) { return into.Matrix(into.AddBlock(block), count, 8); };
  call.query = rows(32), call.key = rows(16), call.value = rows(16);
  call.output = into.AddBlock(block);
  const uint32_t op =
      into.Begin("aten::scaled_dot_product_attention", kNone, kNone, 10, {call.query, call.key, call.value});
  into.End(op, 12, {});
  const uint32_t node = into.AddNode(op, 11);
  std::vector<Operand> gradients;
  for (const int64_t count : {32, 16, 16}) {
    gradients.push_back(rows(count));
    call.gradients.push_back(gradients.back().block);
  }
  into.End(into.Begin("backward", kNone, node, 185, {}), 187, gradients);
  const Step step = std::move(into).Finish();
  Step changed = step;
  static_cast<void>(AttentionRoom(step, call, changed).Backward("BmmBackward0"));
  const auto made = OutputsOf(changed, changed.ops[1]);
  ASSERT_EQ(made.size(), 3u);
  EXPECT_THAT(SizesOf(changed, made[0]), testing::ElementsAre(32, 8));
  EXPECT_THAT(SizesOf(changed, made[1]), testing::ElementsAre(16, 8));
  EXPECT_THAT(SizesOf(changed, made[2]), testing::ElementsAre(16, 8));
}

// return attend(query, key, value).transpose(1, 2).contiguous(), and the caller's x.view(2, 16, 32): no
// operator copies what memory-efficient attention returns.
TEST(AttentionRoomTest, WhatCouldNotBeViewedTheFunctionHasCopied) {
  const auto copied = [](bool one_head, const char* asker = "aten::view", bool all = true,
                         bool already = false) {
    const Step bare = Bare(false);
    Inserter into(bare, {});
    StepBlock block;
    block.begin = 11, block.end = 200, block.requested = 4096;
    AttentionCall call = CallOf(0);
    call.nodes.clear();
    call.output = into.AddBlock(block);
    const int64_t heads = one_head ? 1 : 4;
    const auto seen = [&](const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
      Operand operand = into.Matrix(call.output, 1, 1);
      operand.shape = into.ShapeOf(sizes), operand.strides = into.ShapeOf(strides);
      return operand;
    };
    const Operand made = seen({2, heads, 16, 8}, {128 * heads, 8, 8 * heads, 1});
    const Operand turned = seen({2, 16, heads, 8}, {128 * heads, 8 * heads, 8, 1});
    Operand joined = seen({2, 16, 8 * heads}, {128 * heads, 8 * heads, 1});
    if (already) joined.block = into.AddBlock(block);
    const auto add = [&](const char* name, Position at, const std::vector<Operand>& given,
                         const Operand& result) {
      into.End(into.Begin(name, kNone, kNone, at, given), at + 1.5, {result});
    };
    add("aten::scaled_dot_product_attention", 10, {}, made);
    add("aten::narrow", 12.2, {made}, all ? made : seen({2, heads, 8, 8}, {128 * heads, 8, 8 * heads, 1}));
    add("aten::transpose", 14, {made}, turned);
    add(asker, 20, {turned}, joined);
    Step step = std::move(into).Finish();
    step.ops[0].left = 18;
    Step changed = step;
    AttentionRoom(step, call, changed).SplitCopies();
    return changed.blocks.size() > step.blocks.size();
  };
  EXPECT_TRUE(copied(false));
  EXPECT_FALSE(copied(true)) << "they lie one after the other";
  EXPECT_TRUE(copied(false, "aten::reshape"));
  EXPECT_FALSE(copied(false, "aten::reshape", false)) << "a part of it is another question";
  EXPECT_FALSE(copied(false, "aten::reshape", true, true)) << "it copies what any kernel returns";
}

}  // namespace
}  // namespace vramscope::whatif
