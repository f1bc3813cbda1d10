// SPDX-License-Identifier: Apache-2.0
// Parts of one block that a program makes wider one by one, and gives names or not, under autocast, in steps
// put together by hand.
//
//   qk = linear(x); q, k = qk.split(64); q = q.float(); s = k.float() * k; q * q      q is float32, s too
//   x = linear(x).float(); y = x.relu(); x[:, 1:].float() * 2                          x is converted once
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class NamedPartsTest : public testing::Test, protected WrittenOperators {
 protected:
  static constexpr uint64_t kWhole = 7, kQuery = 17, kKey = 27;
  static constexpr Position kEnd = 190;

  NamedPartsTest() {
    Module("net", 2, 95);
    const uint32_t weight = AddBlock(kBefore, kForever);
    step_.trained = {weight};
    block_ = AddBlock(6, kEnd);
    Shows(AddOp("aten::linear", kNone, {5, 7}, {weight}, block_), 0, kWhole);
  }

  // The operator is given a tensor of the block, and what it returns is one.
  uint32_t Shows(uint32_t op, uint64_t given, uint64_t made) {
    for (uint32_t i = 0; i < step_.ops[op].input_count; ++i)
      step_.operands[step_.ops[op].first_input + i].tensor = given;
    step_.operands[step_.ops[op].first_output].tensor = made;
    return op;
  }
  void Split(Position at, uint64_t part) {
    Shows(AddOp("aten::slice", kNone, {at, at + 2}, {block_}, block_), kWhole, part);
  }
  Op& Widen(Position at, uint64_t part) {
    Op& to = step_.ops[Shows(AddOp("aten::to", kNone, {at, at + 2}, {block_}, block_), part, part)];
    to.dtype = Text("torch.float32"), to.asks = Asks::kType;
    return to;
  }
  uint32_t Square(Position at, uint64_t part) {
    const uint32_t made = AddBlock(at + 1, kEnd);
    Shows(AddOp("aten::mul", kNone, {at, at + 2}, {block_, block_}, made), part, 99);
    return made;
  }
  [[nodiscard]] Step Changed() const { return UnderAutocast(step_, kBfloat16Type); }

  uint32_t block_ = 0;
};

TEST_F(NamedPartsTest, AnotherPartThatOneOperatorIsGivenLeavesTheNamedOneWide) {
  Split(10, kQuery), Split(15, kKey);
  Op& query = Widen(20, kQuery);
  query.again = true, query.named = 60;
  Widen(30, kKey).taken = true;
  const uint32_t keys = Square(40, kKey), queries = Square(50, kQuery), late = Square(70, kQuery);
  const Step changed = Changed();
  EXPECT_EQ(changed.blocks[keys].requested, 512u);
  EXPECT_EQ(changed.blocks[queries].requested, 512u);
  EXPECT_EQ(changed.blocks[late].requested, 256u) << "no variable holds the copy any more";
}

TEST_F(NamedPartsTest, APartOfWhatHasANameIsNotConvertedAgain) {
  Widen(20, kWhole);
  Square(30, kWhole), Split(40, kQuery);
  Widen(50, kQuery);
  Square(60, kQuery);
  const auto copies = [&](Position named) {
    for (Op& op : step_.ops)
      if (op.begin == 20) op.named = named;
    const Step changed = Changed();
    return std::ranges::count(changed.blocks, block_, &StepBlock::copy_of);
  };
  EXPECT_EQ(copies(90), 1);
  EXPECT_EQ(copies(kBefore), 2) << "one that nothing holds is gone";
}

// y = act(x).float(); layer(y): a variable of the function holds the copy, and none what act() returned.
TEST_F(NamedPartsTest, WhatAModuleReturnedIsGoneWhereItsNameStandsForTheCopy) {
  Module("net.act", 4, 9, 0), Module("net.layer", 40, 60, 0);
  step_.held.push_back({block_, 2, Text("y"), true});
  step_.named.push_back({block_, 80, kBefore, false, true}), step_.blocks[block_].end = 80.5;
  const auto goes = [&] { return Changed().blocks[block_].end; };
  Widen(20, kWhole).named = 80;
  Square(30, kWhole);
  EXPECT_LT(goes(), 30);
}

// y = act(x).to(x.dtype), which does nothing; q, k = y.chunk(2); q.float(): y is what act() returned.
TEST_F(NamedPartsTest, AndStaysWhereTheProgramConvertedItToWhatItWas) {
  Module("net.act", 4, 9, 0), Module("net.layer", 40, 60, 0);
  step_.held.push_back({block_, 2, Text("y"), true});
  step_.named.push_back({block_, 80, kBefore, false, true}), step_.blocks[block_].end = 80.5;
  Widen(12, kWhole).asks = Asks::kTensor;
  Split(16, kQuery);
  Widen(20, kQuery).named = 80;
  Square(30, kQuery);
  for (Op& op : step_.ops)
    if (op.dtype == 0) op.dtype = Text("");
  EXPECT_GE(AllInLow(step_, kHalfType).blocks[block_].end, 60);
}

}  // namespace
}  // namespace vramscope::whatif
