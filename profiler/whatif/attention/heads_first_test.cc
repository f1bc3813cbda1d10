// SPDX-License-Identifier: Apache-2.0
// attended = attention(q, k, v).transpose(1, 2).contiguous(), in a function that returns it: of queries that
// torch.cat() made, in float32 no operator is seen behind the transpose. The oracle is what PyTorch 2.15
// asked for in NeoMME's attention, whose module multiplies what it got.
#include <gtest/gtest.h>

#include "profiler/whatif/precision/kernels.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/step/strides.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr Position kUsed = 30;

struct Attended {
  std::vector<int64_t> queries = {96, 8, 24, 1};  // strides of [batch, rows, heads, width]
  Position left = 20;                             // when the function returned that called attention
  const char* seen = "aten::transpose";           // what its result went through
};

class HeadsFirstTest : public testing::Test {
 protected:
  HeadsFirstTest() { run_.streams.push_back(0); }

  // Whether what is used at kUsed is a copy of what attention returned.
  bool IsCopied(const Attended& attended) { return Changed(attended).first; }

  // That, and until when functions' variables hold it itself then, which they seem to do until 26, but until
  // 17 what attention returned.
  std::pair<bool, Position> Changed(const Attended& attended) {
    Step bare = BareStep(&run_);
    bare.length = 300;
    Inserter into(bare, {});
    const auto add = [&](Position begin) {
      StepBlock block;
      block.begin = begin, block.end = 200, block.requested = 2 * 3 * 4 * 8 * 4;
      return into.AddBlock(block);
    };
    Operand query;
    query.block = add(1), query.dtype = kFloatType;
    query.shape = into.ShapeOf({2, 3, 4, 8}), query.strides = into.ShapeOf(attended.queries);
    const uint32_t attention = into.Begin("aten::_efficient_attention_forward", kNone, kNone, 10, {query});
    Operand rows = query, heads = query;
    rows.block = heads.block = add(11);
    rows.strides = into.ShapeOf({96, 32, 8, 1});
    into.End(attention, 12, {rows});
    heads.shape = into.ShapeOf({2, 4, 3, 8}), heads.strides = into.ShapeOf({96, 8, 32, 1});
    const uint32_t transpose = into.Begin(attended.seen, kNone, kNone, 15, {heads});
    into.End(transpose, 16, {rows});
    const uint32_t used = into.Begin("aten::mul", kNone, kNone, kUsed, {rows});
    into.End(used, 31, {});
    Step step = std::move(into).Finish();
    step.ops[attention].left = attended.left;
    step.named = {{rows.block, 26, 26, true, true}};
    step.named_since = {{rows.block, 12, 17}, {rows.block, 16, 26}};
    Versions versions(step, kFloatType);
    versions.Decide(query.block, kBfloat16Type), versions.Decide(rows.block, kBfloat16Type);
    HeadsFirst heads_first(step, kBfloat16Type, versions);
    for (const uint32_t op : {attention, transpose})
      heads_first.Begin(step.ops[op]), heads_first.End(step.ops[op]);
    const bool copied = versions.IsCopy(rows.block);
    return {copied, std::move(versions).Finish({}).named[0].until};
  }

 private:
  model::Run run_;
};

TEST_F(HeadsFirstTest, AFunctionThatReturnsRowsFirstHasMadeThemContiguous) {
  EXPECT_TRUE(IsCopied({}));
  EXPECT_FALSE(IsCopied({.queries = {96, 32, 8, 1}})) << "flash attention returns rows then too";
  EXPECT_FALSE(IsCopied({.left = 14})) << "its caller transposes what it got";
  EXPECT_FALSE(IsCopied({.left = 40})) << "the function itself uses it";
  EXPECT_FALSE(IsCopied({.seen = "aten::dropout"}));
}

TEST_F(HeadsFirstTest, WhatTheRowsWereCopiedFromHasTheNamesThatItHadBefore) {
  EXPECT_EQ(Changed({}).second, 17);
  EXPECT_EQ(Changed({.left = 14}).second, 26) << "nothing was copied";
}

}  // namespace
}  // namespace vramscope::whatif
