// SPDX-License-Identifier: Apache-2.0
// Heads of 12 and of 19 elements in 16 bits, in steps put together by hand. The oracle is what PyTorch 2.15
// asked for in SegFormer's attention.
#include "profiler/whatif/attention/filled_heads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Not;

// Two heads of 10 rows, queries like keys, in 16 bits; the call of forward is from 10 to 19, backward's from
// 110 to 118 in a node until 119.
constexpr int64_t kHeads = 2, kRows = 10;
constexpr uint64_t kAll = kHeads * kRows * 2;

class Attention : protected WrittenStep {
 public:
  explicit Attention(int64_t width) : width_(width) {}

  [[nodiscard]] Step& step() { return step_; }
  [[nodiscard]] uint64_t Recorded() const { return kAll * static_cast<uint64_t>(width_); }

  uint32_t Block(Position begin, Position end) {
    const uint32_t block = AddBlock(begin, end);
    step_.blocks[block].requested = Recorded();
    return block;
  }

  // [1, heads, rows, width] of what lies row by row.
  void Give(uint32_t block, uint16_t argument, bool result = false) {
    Operand operand;
    operand.op = static_cast<uint32_t>(step_.ops.size() - 1);
    operand.block = block, operand.argument = argument, operand.dtype = kFloatType;
    operand.shape = Shaped({1, kHeads, kRows, width_});
    operand.strides = Shaped({kHeads * kRows * width_, width_, kHeads * width_, 1});
    step_.operands.push_back(operand);
    Op& op = step_.ops.back();
    ++(result ? op.output_count : op.input_count);
    op.first_output = op.first_input + op.input_count;
  }

  uint32_t Begin(const char* name, uint32_t parent, Position begin, Position end) {
    return Call(name, parent, begin, end);
  }

  uint32_t MadeNode(uint32_t op, Position made, Position begin, Position end) {
    step_.nodes.push_back({Text("node"), op, made, begin, end});
    return static_cast<uint32_t>(step_.nodes.size() - 1);
  }

 private:
  const int64_t width_;
};

TEST(FilledHeadsTest, AreOfWholeMultiplesOfEight) {
  EXPECT_EQ(FilledWidth(12), 16);
  EXPECT_EQ(FilledWidth(19), 24);
  EXPECT_EQ(FilledWidth(64), 64);
}

// Which of query, key and value is a copy in the call, and behind it.
std::vector<bool> Copies(int64_t width, bool masked, bool behind) {
  Attention attention(width);
  std::vector<uint32_t> given;
  attention.Begin("aten::_scaled_dot_product_efficient_attention", kNone, 10, 19);
  for (const uint16_t argument : {0, 1, 2, 3}) {
    given.push_back(attention.Block(1, 50));
    if (argument < 3 || masked) attention.Give(given.back(), argument);
  }
  Versions versions(attention.step(), kBfloat16Type);
  for (const uint32_t block : given) versions.Decide(block, kBfloat16Type);
  FilledHeads filled(attention.step(), versions);
  filled.Begin(attention.step().ops[0]);
  if (behind) filled.End(attention.step().ops[0]);
  return {versions.IsCopy(given[0]), versions.IsCopy(given[1]), versions.IsCopy(given[2])};
}

TEST(FilledHeadsTest, FlashAttentionIsGivenCopies) {
  EXPECT_THAT(Copies(12, false, false), Each(true));
  EXPECT_THAT(Copies(12, false, true), Each(false)) << "which the program never sees";
  EXPECT_THAT(Copies(16, false, false), Each(false));
  EXPECT_THAT(Copies(12, true, false), Each(false)) << "it takes no mask";
}

// q, k, v = qkv.unbind(0)
TEST(FilledHeadsTest, TheNodeKeepsEveryCopyOfPartsOfOneBlock) {
  Attention attention(12);
  attention.Begin("aten::_scaled_dot_product_efficient_attention", kNone, 10, 19);
  const uint32_t parts = attention.Block(1, 50);
  for (const uint16_t argument : {0, 1, 2}) attention.Give(parts, argument);
  Versions versions(attention.step(), kBfloat16Type);
  versions.Decide(parts, kBfloat16Type);
  FilledHeads filled(attention.step(), versions);
  filled.Begin(attention.step().ops[0]);
  const uint32_t current = versions.Current(parts);
  std::set<uint32_t> saved;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(filled.Saved(parts), current);
    saved.insert(versions.Current(parts));
    versions.SetCurrent(parts, current);
  }
  EXPECT_EQ(saved.size(), 3u);
  EXPECT_FALSE(saved.contains(parts));
}

std::vector<uint64_t> BytesOfAdded(const Step& step, const Step& changed) {
  std::vector<uint64_t> bytes;
  for (size_t i = step.blocks.size(); i < changed.blocks.size(); ++i)
    bytes.push_back(changed.blocks[i].requested);
  return bytes;
}

TEST(FilledHeadsTest, WhatItReturnsIsAsWide) {
  Attention attention(12);
  attention.Begin("aten::_efficient_attention_forward", kNone, 10, 19);
  for (const uint16_t argument : {0, 1, 2}) attention.Give(attention.Block(1, 50), argument);
  const uint32_t result = attention.Block(12, 50);
  attention.Give(result, 0, true);
  Step changed = attention.step();
  FillHeads(attention.step(), std::vector<bool>(4, true), changed);
  EXPECT_EQ(changed.blocks[result].requested, kAll * 16);
}

TEST(FilledHeadsTest, BackwardPutsItsGradientIntoZerosAndCutsWhatComesOut) {
  Attention attention(12);
  const uint32_t op = attention.Begin("aten::_efficient_attention_backward", kNone, 110, 118);
  attention.step().ops[op].node = attention.MadeNode(kNone, 15, 109, 119);
  const uint32_t given = attention.Block(105, 118.5);
  attention.Give(given, 0);
  for (const uint16_t argument : {1, 2, 3}) attention.Give(attention.Block(1, 118.6), argument);
  std::vector<uint32_t> gradients;
  for (const uint16_t result : {0, 1, 2}) {
    gradients.push_back(attention.Block(111 + result, 140));
    attention.Give(gradients.back(), result, true);
  }
  Step changed = attention.step();
  FillHeads(attention.step(), std::vector<bool>(7, true), changed);
  EXPECT_THAT(BytesOfAdded(attention.step(), changed),
              ElementsAre(kAll * 16, kAll * 16, kAll * 16, kAll * 16));
  EXPECT_LT(changed.blocks[given].end, 110) << "what it was given has been copied";
  EXPECT_EQ(changed.blocks[7].end, 118.5);
  const auto born = [&](size_t i) { return changed.blocks[gradients[i]].begin; };
  EXPECT_GT(born(2), 119) << "of values, when the node has let go of all";
  EXPECT_GT(born(1), born(2));
  EXPECT_GT(born(0), born(1));
}

// Float32 takes products for heads of 19; their names and blocks, when a lever has made them 16 bits.
class Products : public Attention {
 public:
  explicit Products(int64_t width = 19) : Attention(width) {
    for (int i = 0; i < 3; ++i) Block(1, 150);
    output_ = Block(16, 150);
    const uint32_t call = Begin("aten::scaled_dot_product_attention", kNone, 10, 19);
    for (const uint16_t argument : {0, 1, 2}) Give(argument, argument);
    Give(output_, 0, true);
    Begin("aten::_scaled_dot_product_attention_math", call, 11, 18);
    weights_ = Block(13, 115);
    const uint32_t node = MadeNode(call, 15, 109, 119);
    step().saved.push_back({weights_, node, 15, 114});
    for (const Position at : {111, 112, 113}) Block(at, 140);  // gradients of values, keys, queries
    const uint32_t backward = Begin("node", kNone, 110, 118);
    step().ops[backward].node = node;
    step().ops[backward].name = step().nodes[node].name;
  }
  uint32_t output_ = kNone, weights_ = kNone;
};

TEST(FilledHeadsTest, ProductsOfFloatsThatNoKernelTakesBecomeFlashAttention) {
  Products recorded;
  const Step changed = WithFilledFlash(recorded.step());
  EXPECT_EQ(changed.blocks[recorded.weights_].requested, 0u) << "it keeps none";
  EXPECT_EQ(changed.blocks[recorded.output_].requested, kAll * 24);
  const std::vector<uint64_t> added = BytesOfAdded(recorded.step(), changed);
  EXPECT_THAT(added, Contains(kAll * 24).Times(9))
      << "three forward; given, two copies and three in backward";
  EXPECT_THAT(added, Not(Contains(recorded.Recorded())));
}

TEST(FilledHeadsTest, ProductsStayWhereTheProgramNamesThemOrFloatsHadTheChoice) {
  Products named, wide(12);
  named.step().keeps_products = true;
  EXPECT_EQ(WithFilledFlash(named.step()).blocks.size(), named.step().blocks.size());
  EXPECT_EQ(WithFilledFlash(wide.step()).blocks.size(), wide.step().blocks.size());
}

}  // namespace
}  // namespace vramscope::whatif
