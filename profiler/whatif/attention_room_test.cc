// SPDX-License-Identifier: Apache-2.0
// A mask that two calls of memory-efficient attention keep for backward, written down by hand as TimesFM has
// it.
#include "profiler/whatif/attention_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/insert.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr Position kBehindMask = 22, kReleased[] = {190, 150};  // of the first call last

Step TwoCalls(Position mask_ends) {
  Step bare;
  bare.length = 300;
  bare.shapes.push_back({});
  bare.backward.push_back({100, 200});
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
  Step bare;
  bare.length = 300;
  bare.shapes.push_back({});
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

}  // namespace
}  // namespace vramscope::whatif
