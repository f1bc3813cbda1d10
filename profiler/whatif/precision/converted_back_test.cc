// SPDX-License-Identifier: Apache-2.0
// What a program converts to 16 bits itself, under autocast, in steps put together by hand: whether it gets a
// copy, and how long the name of what it converts holds that.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class ConvertedBackTest : public testing::Test, protected WrittenOperators {
 protected:
  static constexpr Position kConverted = 30, kReturned = 80, kFreed = 90;

  ConvertedBackTest() {
    Module("net", 2, kReturned);
    weight_ = AddBlock(kBefore, kForever);
    step_.trained = {weight_};
  }

  uint32_t To(const char* type, Position at, uint32_t block) {
    const uint32_t to = AddOp("aten::to", kNone, {at, at + 2}, {block}, block);
    step_.ops[to].dtype = Text(type);
    return to;
  }
  // Bytes of copies of the block that conversions put in.
  [[nodiscard]] static std::vector<uint64_t> CopiesOf(const whatif::Step& changed, uint32_t block) {
    std::vector<uint64_t> copies;
    for (const StepBlock& one : changed.blocks)
      if (one.copy_of == block) copies.push_back(one.requested);
    return copies;
  }

  // query @ key, softmax, and back to the type of the query: linear's result, or the table's row.
  [[nodiscard]] std::vector<uint64_t> CopiesOfWeights(bool low_query) {
    const uint32_t query = AddBlock(6, kFreed), scores = AddBlock(11, kFreed), weights = AddBlock(21, kFreed);
    AddOp(low_query ? "aten::linear" : "aten::embedding", kNone, {5, 7}, {weight_}, query);
    AddOp("aten::matmul", kNone, {10, 12}, {query, query}, scores);
    AddOp("aten::softmax", kNone, {20, 22}, {scores}, weights);
    step_.ops[To("torch.float32", kConverted, weights)].asks = Asks::kOrigin;
    AddOp("aten::relu", kNone, {40, 42}, {weights}, AddBlock(41, kFreed));
    return CopiesOf(UnderAutocast(step_, kBfloat16Type), weights);
  }

  // y = x.float(); y = y * y; y = y.type_as(x); the function goes on. When does the float32 y go?
  [[nodiscard]] Position WideEndsBehindTypeAs(const std::optional<Position>& named, Position freed = kFreed) {
    const uint32_t x = AddBlock(6, kFreed), square = AddBlock(21, freed);
    AddOp("aten::linear", kNone, {5, 7}, {weight_}, x);
    To("torch.float32", 10, x);
    AddOp("aten::mul", kNone, {20, 22}, {x, x}, square);
    AddOp("aten::type_as", kNone, {kConverted, kConverted + 2}, {square, x}, square);
    for (const Position at : {40, 50, 84})
      AddOp("aten::relu", kNone, {at, at + 2}, {square}, AddBlock(at + 1, kFreed));
    if (named) step_.named.push_back({square, *named, *named, true, true});
    const whatif::Step changed = UnderAutocast(step_, kBfloat16Type);
    EXPECT_EQ(CopiesOf(changed, square), std::vector<uint64_t>{256});
    return changed.blocks[square].end;
  }

  // Of the product of x.float(), or of what is in float32 before, with itself as complex numbers.
  [[nodiscard]] std::vector<uint64_t> CopiesOfTurned(bool low) {
    const uint32_t x = AddBlock(6, kFreed), turned = AddBlock(21, kFreed);
    AddOp(low ? "aten::linear" : "aten::embedding", kNone, {5, 7}, {weight_}, x);
    To("torch.float32", 10, x);
    const uint32_t mul = AddOp("aten::mul", kNone, {20, 22}, {x, x}, turned);
    for (uint32_t i = step_.ops[mul].first_input; i <= step_.ops[mul].first_output; ++i)
      step_.operands[i].dtype = kComplexType;
    AddOp("aten::type_as", kNone, {kConverted, kConverted + 2}, {turned, x}, turned);
    AddOp("aten::relu", kNone, {40, 42}, {turned}, AddBlock(41, kFreed));
    return CopiesOf(UnderAutocast(step_, kBfloat16Type), turned);
  }

  // y = x.float(); y = y * y; y = y.to(x.dtype); the function goes on. When does the float32 y go? `told`:
  // what its variables hold.
  [[nodiscard]] Position WideEnds(bool told, bool goes_on = true) {
    const uint32_t x = AddBlock(6, kFreed), square = AddBlock(21, kFreed);
    AddOp("aten::linear", kNone, {5, 7}, {weight_}, x);
    To("torch.float32", 10, x);
    AddOp("aten::mul", kNone, {20, 22}, {x, x}, square);
    To("torch.bfloat16", kConverted, square);
    if (goes_on) {
      AddOp("aten::relu", kNone, {40, 42}, {square}, AddBlock(41, kFreed));
      AddOp("aten::relu", kNone, {50, 52}, {square}, AddBlock(51, kFreed));
    }
    AddOp("aten::relu", kNone, {84, 86}, {square}, AddBlock(85, kFreed));
    if (told) step_.named.push_back({square, kBefore, kBefore, true, true});
    const whatif::Step changed = UnderAutocast(step_, kBfloat16Type);
    EXPECT_EQ(CopiesOf(changed, square), std::vector<uint64_t>{256});
    return changed.blocks[square].end;
  }

  uint32_t weight_ = 0;
};

// softmax(query @ key, dim=-1, dtype=torch.float32).to(query.dtype): softmax returns float32 by itself, so
// that nothing shows in types that the program widened it.
TEST_F(ConvertedBackTest, WhoseOriginIsLowBecomesLow) {
  EXPECT_EQ(CopiesOfWeights(true), std::vector<uint64_t>{256});
}

TEST_F(ConvertedBackTest, WhoseOriginIsFloatStaysThat) { EXPECT_TRUE(CopiesOfWeights(false).empty()); }

// y = x.float(); y = y * y; y.to(torch.float32), whatever y is
TEST_F(ConvertedBackTest, WhatNamesFloat32IsNotTakenBack) {
  const uint32_t x = AddBlock(6, kFreed), square = AddBlock(21, kFreed);
  AddOp("aten::linear", kNone, {5, 7}, {weight_}, x);
  To("torch.float32", 10, x);
  AddOp("aten::mul", kNone, {20, 22}, {x, x}, square);
  step_.ops[To("torch.float32", kConverted, square)].asks = Asks::kType;
  EXPECT_TRUE(CopiesOf(UnderAutocast(step_, kBfloat16Type), square).empty());
}

// y = x.float(); y = y * y; y.to(..., memory_format=torch.contiguous_format), which copies in float32 too.
TEST_F(ConvertedBackTest, WhatIsLaidOutAnewIsTakenBackAsWell) {
  const uint32_t x = AddBlock(6, kFreed), square = AddBlock(21, kFreed), laid = AddBlock(32, kFreed);
  AddOp("aten::linear", kNone, {5, 7}, {weight_}, x);
  To("torch.float32", 10, x);
  AddOp("aten::mul", kNone, {20, 22}, {x, x}, square);
  const uint32_t to = AddOp("aten::to", kNone, {kConverted, 34}, {square}, laid);
  const uint32_t copy = AddOp("aten::_to_copy", kNone, {31, 33}, {square}, laid);
  step_.ops[copy].parent = to;
  step_.ops[to].dtype = step_.ops[copy].dtype = Text("torch.float32");
  const auto bytes = [&](Asks asks) {
    step_.ops[to].asks = asks;
    return UnderAutocast(step_, kBfloat16Type).blocks[laid].requested;
  };
  EXPECT_EQ(bytes(Asks::kOrigin), 256u);
  EXPECT_EQ(bytes(Asks::kType), 512u);
}

TEST_F(ConvertedBackTest, WhatNoVariableHoldsIsReplacedAtOnce) {
  EXPECT_LT(WideEnds(true), kConverted + 2.1);
}

TEST_F(ConvertedBackTest, WhereNothingTellsAnotherVariableMayHoldIt) { EXPECT_EQ(WideEnds(false), kFreed); }

// return y.to(x.dtype)
TEST_F(ConvertedBackTest, WithoutANameItGoesBeforeItsFunctionReturnsToo) {
  EXPECT_LT(WideEnds(true, false), kConverted + 2.1);
}

TEST_F(ConvertedBackTest, WhereNothingTellsItIsHeldUntilItsFunctionReturns) {
  EXPECT_NEAR(WideEnds(false, false), kReturned, 0.6);
}

TEST_F(ConvertedBackTest, WhatGetsTheTypeOfAnotherTensorIsReplacedAtOnceWhereNoVariableHoldsIt) {
  EXPECT_LT(WideEndsBehindTypeAs(kBefore), kConverted + 2.1);
}

TEST_F(ConvertedBackTest, WhatGetsTheTypeOfAnotherTensorStaysWhereAVariableHoldsIt) {
  EXPECT_NEAR(WideEndsBehindTypeAs(60, 87), 60, 0.1) << "wide = y; y = wide.type_as(x)";
}

TEST_F(ConvertedBackTest, WhatGetsTheTypeOfAnotherTensorMayBeHeldWhereNothingTells) {
  EXPECT_EQ(WideEndsBehindTypeAs({}), kFreed);
}

// x = net(...); torch.zeros(n, dtype=x.dtype), in a loss that is no module.
TEST_F(ConvertedBackTest, OutsideOfModulesThatIsAskedWhichTheModelReturned) {
  const uint32_t x = AddBlock(6, kFreed), zeros = AddBlock(85, kFreed);
  AddOp("aten::linear", kNone, {5, 7}, {weight_}, x);
  Op& made = step_.ops[AddOp("aten::zeros", kNone, {kReturned + 4, kReturned + 6}, {}, zeros)];
  made.dtype = Text("torch.float32"), made.asks = Asks::kTensor, made.asked = x;
  EXPECT_EQ(UnderAutocast(step_, kBfloat16Type).blocks[zeros].requested, 256u);
  made.asked = kNone;
  EXPECT_EQ(UnderAutocast(step_, kBfloat16Type).blocks[zeros].requested, 512u) << "not told which";
}

// view_as_real(view_as_complex(x.float()) * turned).type_as(x), as rotary embeddings have it.
TEST_F(ConvertedBackTest, WhatIsComplexBetweenIsConvertedBack) {
  EXPECT_EQ(CopiesOfTurned(true), std::vector<uint64_t>{256});
}

TEST_F(ConvertedBackTest, ButNotWhereNothingWasMadeWider) {
  EXPECT_EQ(CopiesOfTurned(false), std::vector<uint64_t>{});
}

// x = norm(...), which returns y.to(type); f(x.float()).type_as(x)
TEST_F(ConvertedBackTest, WhatGetsTheTypeOfWhatWasConvertedBackIsConvertedToo) {
  const uint32_t x = AddBlock(6, kFreed), square = AddBlock(21, kFreed), next = AddBlock(41, kFreed);
  AddOp("aten::linear", kNone, {5, 7}, {weight_}, x);
  To("torch.float32", 10, x);
  AddOp("aten::mul", kNone, {20, 22}, {x, x}, square);
  To("torch.bfloat16", kConverted, square);
  To("torch.float32", 36, square);
  AddOp("aten::mul", kNone, {40, 42}, {square, square}, next);
  AddOp("aten::type_as", kNone, {45, 47}, {next, square}, next);
  AddOp("aten::relu", kNone, {50, 52}, {next}, AddBlock(51, kFreed));
  EXPECT_EQ(CopiesOf(UnderAutocast(step_, kBfloat16Type), next), std::vector<uint64_t>{256});
}

// y = torch.zeros_like(x).float(): y is the copy.
TEST_F(ConvertedBackTest, WhatIsWidenedWithoutANameGoesAtOnceAndItsCopyWithItsFunction) {
  constexpr Position kGone = kReturned - 0.5;
  const uint32_t x = AddBlock(6, kFreed), zeros = AddBlock(21, kGone);
  AddOp("aten::linear", kNone, {5, 7}, {weight_}, x);
  AddOp("aten::zeros_like", kNone, {20, 22}, {x}, zeros);
  step_.ops[To("torch.float32", kConverted, zeros)].named = kGone;
  AddOp("aten::relu", kNone, {40, 42}, {zeros}, AddBlock(41, kFreed));
  step_.named.push_back({zeros, kGone, kBefore, false, true});
  const auto ends = [&] {
    const whatif::Step changed = UnderAutocast(step_, kBfloat16Type);
    EXPECT_EQ(CopiesOf(changed, zeros), std::vector<uint64_t>{512});
    const auto copy = std::find_if(changed.blocks.begin(), changed.blocks.end(),
                                   [&](const StepBlock& one) { return one.copy_of == zeros; });
    return std::pair(changed.blocks[zeros].end, copy->end);
  };
  EXPECT_LT(ends().first, kConverted + 2.1);
  EXPECT_NEAR(ends().second, kGone, 0.1);
  step_.named.back().unconverted = 60;  // zeros = torch.zeros_like(x); y = zeros.float(); zeros = ...
  EXPECT_NEAR(ends().first, 60, 0.1);
  EXPECT_NEAR(ends().second, kGone, 0.1);
}

// y = norm(x).to(torch.float32), where norm returns z.to(x.dtype): y is the second copy.
TEST_F(ConvertedBackTest, WhatAModuleConvertedGoesWhenItsCallerHasConvertedItAgain) {
  constexpr Position kAgain = 36, kGone = 60;
  const uint32_t x = AddBlock(6, kFreed), square = AddBlock(21, kGone);
  AddOp("aten::linear", kNone, {5, 7}, {weight_}, x);
  Module("net.norm", 9, 33, 0);
  To("torch.float32", 10, x);
  AddOp("aten::mul", kNone, {20, 22}, {x, x}, square);
  const uint32_t back = To("torch.bfloat16", kConverted, square);
  step_.ops[To("torch.float32", kAgain, square)].named = kGone;
  AddOp("aten::relu", kNone, {40, 42}, {square}, AddBlock(41, kFreed));
  step_.named.push_back({square, kGone, kBefore, false, true});
  const auto ends = [&] {
    const whatif::Step changed = UnderAutocast(step_, kBfloat16Type);
    std::vector<Position> copies;
    for (const StepBlock& one : changed.blocks)
      if (one.copy_of == square) copies.push_back(one.end);
    EXPECT_EQ(CopiesOf(changed, square), (std::vector<uint64_t>{256, 512}));
    return copies;
  };
  EXPECT_LT(ends().at(0), kAgain + 2.1);
  EXPECT_NEAR(ends().at(1), kGone, 0.1);
  step_.ops[back].named = kGone;
  EXPECT_NEAR(ends().at(0), kGone, 0.1) << "z = norm(x); y = z.to(torch.float32)";
}

// Two modules that are given y, in float32, and begin with y.type(other.dtype).
TEST_F(ConvertedBackTest, WhatIsGivenToTwoModulesIsConvertedInEach) {
  const uint32_t x = AddBlock(6, kFreed), square = AddBlock(21, kFreed);
  AddOp("aten::linear", kNone, {5, 7}, {weight_}, x);
  To("torch.float32", 10, x);
  AddOp("aten::mul", kNone, {20, 22}, {x, x}, square);
  for (const Position begin : {28, 48}) {
    Module("net.layer", begin, begin + 15, 0);
    Op& to = step_.ops[To("torch.float32", begin + 2, square)];
    to.asks = Asks::kTensor, to.asked = x;
    AddOp("aten::relu", kNone, {begin + 8, begin + 10}, {square}, AddBlock(begin + 9, kFreed));
  }
  EXPECT_EQ(CopiesOf(UnderAutocast(step_, kBfloat16Type), square), (std::vector<uint64_t>{256, 256}));
}

// state = x.float() * x; out = f(state.to(x.dtype)); state = g(state), as a loop over tokens does.
TEST_F(ConvertedBackTest, WhatIsUsedAgainBehindACopyWithoutANameIsWhatItWas) {
  const uint32_t x = AddBlock(6, kFreed), state = AddBlock(21, kFreed);
  AddOp("aten::linear", kNone, {5, 7}, {weight_}, x);
  To("torch.float32", 10, x);
  AddOp("aten::mul", kNone, {20, 22}, {x, x}, state);
  const uint32_t to = To("torch.bfloat16", kConverted, state);
  const uint32_t out = AddBlock(41, kFreed), again = AddBlock(51, kFreed);
  AddOp("aten::relu", kNone, {40, 42}, {state}, out);
  AddOp("aten::relu", kNone, {50, 52}, {state}, again);
  step_.named.push_back({state, 60, 60, true, true});
  const auto bytes = [&] {
    const whatif::Step changed = UnderAutocast(step_, kBfloat16Type);
    return std::pair(changed.blocks[out].requested, changed.blocks[again].requested);
  };
  EXPECT_EQ(bytes(), std::pair(uint64_t{256}, uint64_t{256})) << "y = state.to(...), which both are given";
  step_.ops[to].taken = true;
  EXPECT_EQ(bytes(), std::pair(uint64_t{256}, uint64_t{512}));
}

// self.norm(hidden.float()) of def forward(self, x): kind = x.dtype; return layer_norm(x.float()).to(kind),
// where the layer norm is not all that the module does with x.
TEST_F(ConvertedBackTest, AModuleHasTheCopyThatItIsCalledWithForTheWholeOfItsCall) {
  Module("net.norm", 15, 50, 0);
  const uint32_t x = AddBlock(6, kFreed), normed = AddBlock(21, kFreed);
  AddOp("aten::linear", kNone, {5, 7}, {weight_}, x);
  Op& given = step_.ops[To("torch.float32", 10, x)];
  given.asks = Asks::kType, given.taken = true;
  step_.ops[To("torch.float32", 17, x)].asks = Asks::kType;
  AddOp("aten::layer_norm", kNone, {20, 22}, {x}, normed);
  step_.ops[To("torch.float32", kConverted, normed)].asks = Asks::kOrigin;
  AddOp("aten::relu", kNone, {60, 62}, {normed}, AddBlock(61, kFreed));
  const uint32_t behind = AddBlock(65, kFreed);
  AddOp("aten::relu", kNone, {64, 66}, {x}, behind);
  const whatif::Step changed = UnderAutocast(step_, kBfloat16Type);
  EXPECT_TRUE(CopiesOf(changed, normed).empty()) << "x is float32 there, so nothing is converted back";
  EXPECT_EQ(changed.blocks[normed].requested, 512u);
  EXPECT_EQ(changed.blocks[behind].requested, 256u) << "the caller's variable is what it was";
}

// super().loss(x.float()) of a class whose method is called with x.float().
TEST_F(ConvertedBackTest, WhatIsConvertedAlreadyLivesAsLongAsWhatASecondConversionReturns) {
  const uint32_t x = AddBlock(6, kFreed);
  AddOp("aten::linear", kNone, {5, 7}, {weight_}, x);
  step_.ops[To("torch.float32", 10, x)].asks = Asks::kType;
  const uint32_t second = To("torch.float32", 20, x);
  step_.ops[second].asks = Asks::kType;
  AddOp("aten::relu", kNone, {22, 24}, {x}, AddBlock(23, kFreed));
  const auto copy_ends = [&] {
    const whatif::Step changed = UnderAutocast(step_, kBfloat16Type);
    return std::ranges::find(changed.blocks, x, &StepBlock::copy_of)->end;
  };
  EXPECT_LT(copy_ends(), 70);
  step_.ops[second].named = 70;
  EXPECT_GE(copy_ends(), 70);
}

// return weight * x.to(type): the node keeps the copy, and is all that works on it in backward.
TEST_F(ConvertedBackTest, WhatIsUsedNoMoreIsTheCopyFromThenOn) {
  const uint32_t x = AddBlock(6, kFreed), square = AddBlock(21, 113.5), out = AddBlock(41, 190);
  AddOp("aten::linear", kNone, {5, 7}, {weight_}, x);
  To("torch.float32", 10, x);
  AddOp("aten::mul", kNone, {20, 22}, {x, x}, square);
  step_.ops[To("torch.bfloat16", kConverted, square)].taken = true;
  const uint32_t mul = AddOp("aten::mul", kNone, {40, 42}, {weight_, square}, out);
  const uint32_t node = AddNode("MulBackward0", mul, 110);
  AddOp("aten::mul", node, {111, 113}, {square}, kNone);
  step_.saved.push_back({square, node, 40.5, 113});
  step_.named.push_back({square, 60, 60, true, true});
  const whatif::Step changed = UnderAutocast(step_, kBfloat16Type);
  EXPECT_NEAR(changed.blocks[square].end, 60, 0.1);
  EXPECT_EQ(CopiesOf(changed, square), std::vector<uint64_t>{256});
}

// Variables that are seen to hold a block while a module is called, until their function returns, at kGone.
class SeenConversionTest : public ConvertedBackTest {
 protected:
  static constexpr Position kGone = kReturned - 0.5, kNamed = 36;

  // When the block goes that an operator makes, and that is converted from `from` to `to`.
  [[nodiscard]] Position Ends(const char* maker, uint32_t from, const char* to, uint32_t made) {
    AddOp(maker, kNone, {20, 22}, {from}, made);
    step_.ops[To(to, kConverted, made)].named = kGone;
    AddOp("aten::relu", kNone, {60, 62}, {made}, AddBlock(61, kFreed));
    const auto inner = static_cast<uint32_t>(step_.modules.size());
    Module("net.inner", 50, 55, 0);
    step_.named.push_back({made, kGone, kNamed, false, true});
    step_.held.push_back({made, inner, Text("delays"), true});
    const whatif::Step changed = UnderAutocast(step_, kBfloat16Type);
    EXPECT_EQ(CopiesOf(changed, made).size(), 1u);
    return changed.blocks[made].end;
  }
  uint32_t Linear() {
    const uint32_t x = AddBlock(6, kFreed);
    AddOp("aten::linear", kNone, {5, 7}, {weight_}, x);
    return x;
  }
};

// delays = torch.zeros_like(x).float()
TEST_F(SeenConversionTest, TheyHoldTheWideCopy) {
  const uint32_t x = Linear();
  EXPECT_NEAR(Ends("aten::zeros_like", x, "torch.float32", AddBlock(21, kGone)), kNamed, 0.1);
}

// delays = (x.float() * x.float()).to(torch.bfloat16)
TEST_F(SeenConversionTest, OrTheOneInSixteenBits) {
  const uint32_t x = Linear();
  To("torch.float32", 10, x);
  EXPECT_NEAR(Ends("aten::neg", x, "torch.bfloat16", AddBlock(21, kGone)), kNamed, 0.1);
}

// Another function than that of the module that converts it.
TEST_F(SeenConversionTest, NotWhereAnotherFunctionMadeIt) {
  const uint32_t x = Linear();
  Module("net.convert", 28, 48, 0);
  EXPECT_GT(Ends("aten::zeros_like", x, "torch.float32", AddBlock(21, kGone)), kReturned - 1);
}

}  // namespace
}  // namespace vramscope::whatif
