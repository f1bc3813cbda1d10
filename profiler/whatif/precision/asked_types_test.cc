// SPDX-License-Identifier: Apache-2.0
// Which type x.to(x.dtype) asks for under autocast, of what a module computes: steps put together by hand.
#include "profiler/whatif/precision/asked_types.h"

#include <gtest/gtest.h>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

//   sum = linear(hidden) + residual
//   norm(sum): x = weight * (sum * sum); x.to(...), which asks for the type of what x was computed from
class AskedTypesTest : public testing::Test, protected WrittenOperators {
 protected:
  AskedTypesTest() {
    weight_ = AddBlock(kBefore, kForever);
    step_.blocks[weight_].category = classify::Category::kParameter;
    Module("net", 0, 90);
    hidden_ = AddBlock(5, 90), sum_ = AddBlock(16, 90);
    const uint32_t product = AddBlock(11, 90), residual = AddBlock(12.5, 90);
    AddOp("aten::linear", kNone, {10, 12}, {hidden_, weight_}, product);
    AddOp("aten::add", kNone, {15, 17}, {product, residual}, sum_);
  }

  void InANorm() { Module("net.norm", 30, 60, 0); }
  // Where hidden is in 16 bits, and the sum of that type; 0: of one that is not known.
  uint8_t Asked(uint8_t of_sum) {
    const uint32_t square = AddBlock(41, 90), scaled = AddBlock(46, 90);
    AddOp("aten::mul", kNone, {40, 42}, {sum_, sum_}, square);
    AddOp("aten::mul", kNone, {45, 47}, {weight_, square}, scaled);
    const uint32_t to = AddOp("aten::to", kNone, {50, 52}, {scaled}, scaled);
    step_.ops[to].asks = Asks::kOrigin;
    Versions versions(step_, kFloatType);
    versions.Decide(hidden_, kBfloat16Type);
    if (of_sum != 0) versions.Decide(sum_, of_sum);
    return TypeAskedFor(step_, versions, CallsOf(step_), to);
  }

  uint32_t weight_ = 0, hidden_ = 0, sum_ = 0;
};

TEST_F(AskedTypesTest, WhatAModuleIsGivenCountsAndNotWhatThatWasComputedFrom) {
  InANorm();
  EXPECT_EQ(Asked(kFloatType), kFloatType);
}

TEST_F(AskedTypesTest, InTheModuleThatComputesItAllTheFactorOfTheProductCounts) {
  EXPECT_EQ(Asked(kFloatType), kBfloat16Type);
}

// keys = norm(keys) in float32, values = linear(x) under autocast; DynamicCache of transformers makes what it
// begins with in the type of the keys, and cat() the wider type.
TEST_F(AskedTypesTest, ACachesNothingHasTheTypeOfKeys) {
  step_.shapes.push_back({1, 1, true}), step_.dims.push_back(0);
  const auto nothing = static_cast<uint32_t>(step_.shapes.size() - 1);
  const uint32_t keys = AddBlock(31, 90), values = AddBlock(34, 90);
  const auto append = [&](uint32_t to, Window time, uint32_t made) {
    const uint32_t cat = AddOp("aten::cat", kNone, time, {kNone, to}, made);
    step_.operands[step_.ops[cat].first_input].shape = nothing;
    return cat;
  };
  append(sum_, {30, 32}, keys);
  const uint32_t cat = append(hidden_, {33, 35}, values);
  const auto promoted = [&](uint8_t type_of_keys) {
    Versions versions(step_, kFloatType);
    versions.Decide(keys, type_of_keys), versions.Decide(hidden_, kBfloat16Type);
    return PromotedBy(step_, versions, cat);
  };
  EXPECT_EQ(promoted(kFloatType), kFloatType);
  EXPECT_EQ(promoted(kBfloat16Type), kBfloat16Type);
  step_.operands[step_.ops[cat].first_input].block = weight_;
  EXPECT_EQ(promoted(kBfloat16Type), kFloatType) << "of something it is that thing's";
  step_.operands[step_.ops[cat].first_input].block = hidden_;
  EXPECT_EQ(promoted(kFloatType), kBfloat16Type);
}

TEST_F(AskedTypesTest, TheTypeOfWhatIsGivenMayNotBeKnown) {
  InANorm();
  EXPECT_EQ(Asked(0), 0);
}

// The weight stands first, in float32.
TEST_F(AskedTypesTest, AParameterAmongTheOperandsIsPassedOver) {
  InANorm();
  EXPECT_EQ(Asked(kBfloat16Type), kBfloat16Type);
}

TEST_F(AskedTypesTest, SoIsABuffer) {
  InANorm();
  step_.blocks[weight_].category = classify::Category::kBuffer;
  EXPECT_EQ(Asked(kBfloat16Type), kBfloat16Type);
}

// norm(sum, gate): kind = sum.dtype; sum = sum.float(); x = sum * silu(gate.float()); weight * x.to(kind)
class GatedNormTest : public AskedTypesTest {
 protected:
  uint8_t AskedOf(uint8_t sum, bool again, bool first = false) {
    InANorm();
    const uint32_t gate = AddBlock(18, 90), gated = AddBlock(41, 90);
    const uint32_t renamed = To(33, sum_, Asks::kType), opened = To(35, gate, Asks::kType);
    step_.ops[renamed].again = again;
    AddOp("aten::mul", kNone, {40, 42}, {sum_, gate}, gated);
    const uint32_t back = To(50, gated, Asks::kOrigin);
    step_.ops[back].first = first;
    Versions versions(step_, kFloatType);
    versions.Decide(sum_, sum), versions.Decide(gated, kFloatType);
    if (sum != kFloatType) versions.Widen(sum_, renamed);
    versions.Widen(gated, opened);
    return TypeAskedFor(step_, versions, CallsOf(step_), back);
  }

 private:
  uint32_t To(Position at, uint32_t block, Asks asks) {
    const uint32_t op = AddOp("aten::to", kNone, {at, at + 1}, {block}, block);
    step_.ops[op].asks = asks;
    return op;
  }
};

TEST_F(GatedNormTest, TheTypeIsThatOfWhatAVariableStoodForAlsoWhereAGateIsMadeWide) {
  EXPECT_EQ(AskedOf(kFloatType, true), kFloatType);
}

TEST_F(GatedNormTest, WhatIsMadeWideIsGivenBackWhatItWas) { EXPECT_EQ(AskedOf(kBfloat16Type, true), 0); }

TEST_F(GatedNormTest, WhatHasAnotherNameMayBeBesideIt) { EXPECT_EQ(AskedOf(kFloatType, false), 0); }

// (sum.float() * silu(gate.float())).to(sum.dtype)
TEST_F(GatedNormTest, WhatIsKnownToComeFirstIsTheOneWhoseTypeIsAskedFor) {
  EXPECT_EQ(AskedOf(kFloatType, false, true), kFloatType);
  EXPECT_EQ(AskedOf(kBfloat16Type, false, true), 0);
}

// In one module: sum = (sum.float() + gate.float()).to(sum.dtype), twice. The second one's sum is the first.
TEST_F(AskedTypesTest, WhatComesFirstIsTheNearestThatWasAskedToBeInFloat) {
  const uint32_t gate = AddBlock(18, 90), once = AddBlock(31, 90), twice = AddBlock(41, 90);
  const auto to = [&](Position at, uint32_t block, Asks asks) {
    const uint32_t op = AddOp("aten::to", kNone, {at, at + 1}, {block}, block);
    step_.ops[op].asks = asks;
    return op;
  };
  to(26, sum_, Asks::kType);
  AddOp("aten::add", kNone, {30, 32}, {sum_, gate}, once);
  to(36, once, Asks::kType);
  const uint32_t widened = to(38, gate, Asks::kType);
  AddOp("aten::add", kNone, {40, 42}, {once, gate}, twice);
  const uint32_t back = to(50, twice, Asks::kOrigin);
  step_.ops[back].first = true;
  const auto asked = [&](uint8_t type, bool whole) {
    Versions versions(step_, kFloatType);
    versions.Decide(hidden_, kBfloat16Type), versions.Decide(once, type);
    versions.Decide(twice, kFloatType), versions.Widen(twice, widened);
    return TypeAskedFor(step_, versions, CallsOf(step_), back, whole);
  };
  EXPECT_EQ(asked(kFloatType, false), kFloatType);
  EXPECT_EQ(asked(kBfloat16Type, false), 0);
  EXPECT_EQ(asked(kFloatType, true), 0) << "16 bits throughout: the program made it wide";
}

// What a product of matrices returns asks for the type of its first factor: of hidden, in 16 bits, beside
// what is in float32.
class FactorsTest : public AskedTypesTest {
 protected:
  uint8_t AskedOf(const char* product, const std::vector<uint32_t>& given) {
    const uint32_t made = AddBlock(41, 90);
    AddOp(product, kNone, {40, 42}, given, made);
    const uint32_t to = AddOp("aten::to", kNone, {50, 52}, {made}, made);
    step_.ops[to].asks = Asks::kOrigin;
    Versions versions(step_, kFloatType);
    versions.Decide(hidden_, kBfloat16Type), versions.Decide(sum_, kFloatType);
    return TypeAskedFor(step_, versions, CallsOf(step_), to);
  }
};

// alibi.baddbmm(query, keys)
TEST_F(FactorsTest, WhatIsAddedToAProductIsNoFactor) {
  for (const char* const product : {"aten::baddbmm", "aten::addmm", "aten::addbmm"}) {
    EXPECT_EQ(AskedOf(product, {sum_, hidden_, sum_}), kBfloat16Type) << product;
    EXPECT_EQ(AskedOf(product, {hidden_, sum_, hidden_}), kFloatType) << product;
  }
  EXPECT_EQ(AskedOf("aten::bmm", {hidden_, sum_}), kBfloat16Type);
}

TEST_F(FactorsTest, ABiasThatIsAddedLeavesTheFirstFactorTheFirst) {
  for (const char* const product : {"aten::baddbmm", "aten::addmm", "aten::addbmm"}) {
    EXPECT_EQ(AskedOf(product, {weight_, hidden_, sum_}), kBfloat16Type) << product;
    EXPECT_EQ(AskedOf(product, {weight_, hidden_, weight_}), kBfloat16Type) << product;
  }
}

// zeros = torch.zeros(..., dtype=x.dtype), which meets x next.
class MeetsTypeTest : public AskedTypesTest {
 protected:
  MeetsTypeTest() {
    zeros_ = AddBlock(31, 90);
    before_ = AddOp("aten::to", kNone, {25, 27}, {hidden_}, hidden_);
    made_ = AddOp("aten::zeros", kNone, {30, 32}, {}, zeros_);
    between_ = AddOp("aten::to", kNone, {35, 37}, {hidden_}, hidden_);
    AddOp("aten::mul", kNone, {40, 42}, {zeros_, hidden_}, AddBlock(41, 90));
    behind_ = AddOp("aten::to", kNone, {45, 47}, {hidden_}, hidden_);
  }
  [[nodiscard]] bool Meets(uint32_t widens) {
    Versions versions(step_, kFloatType);
    versions.Decide(hidden_, kBfloat16Type);
    return MeetsType(step_, versions, CallsOf(step_), kBfloat16Type, made_, zeros_,
                     [&](uint32_t op) { return op == widens; });
  }

  uint32_t zeros_, before_, made_, between_, behind_;
};

TEST_F(MeetsTypeTest, WhatIsMadeWiderBetweenIsNotOfThatTypeAnyMore) {
  EXPECT_TRUE(Meets(kNone));
  EXPECT_FALSE(Meets(between_)) << "x = x.float()";
  EXPECT_TRUE(Meets(before_)) << "zeros were made of what that left";
  EXPECT_TRUE(Meets(behind_)) << "they had met by then";
}

TEST_F(MeetsTypeTest, AnotherTensorMayBe) {
  step_.operands[step_.ops[between_].first_input].block = sum_;
  EXPECT_TRUE(Meets(between_));
}

// cache, other = zeros(..., dtype=x.dtype), ...; cat([cache[:, :0], other[:, :0]]), cat([other[:, :0], x]),
// and cache.index_copy_ of that: Nemotron's diarization begins with caches that nothing is in.
TEST_F(AskedTypesTest, WhatHasNoElementsIsNotMet) {
  step_.shapes.push_back({1, 1, true}), step_.dims.push_back(0);
  const uint32_t cache = AddBlock(31, 90), other = AddBlock(34, 90), joined = AddBlock(41, 90);
  const uint32_t made = AddOp("aten::zeros", kNone, {30, 32}, {}, cache);
  AddOp("aten::zeros", kNone, {33, 34.5}, {}, other);
  const uint32_t of_none = AddOp("aten::cat", kNone, {35, 37}, {other, cache}, AddBlock(36, 90));
  const uint32_t of_some = AddOp("aten::cat", kNone, {40, 42}, {other, hidden_}, joined);
  AddOp("aten::index_copy_", kNone, {45, 47}, {cache, joined}, cache);
  const auto meets = [&] {
    Versions versions(step_, kFloatType);
    versions.Decide(hidden_, kBfloat16Type);
    return MeetsType(step_, versions, CallsOf(step_), kBfloat16Type, made, cache,
                     [](uint32_t) { return false; });
  };
  EXPECT_FALSE(meets()) << "with elements it is";
  for (const uint32_t cat : {of_none, of_some})
    step_.operands[step_.ops[cat].first_input].shape = static_cast<uint32_t>(step_.shapes.size() - 1);
  EXPECT_TRUE(meets());
}

// keys = x.float(); state = torch.zeros(..., dtype=keys.dtype); keys @ state
class MultipliesFloatTest : public AskedTypesTest {
 protected:
  [[nodiscard]] bool Multiplies(const char* operation, Asks asks, bool wide = true) {
    return Asked(MultipliesFloat, operation, asks, wide, false);
  }
  [[nodiscard]] bool Asked(decltype(MultipliesFloat)* question, const char* operation, Asks asks, bool wide,
                           bool into_zeros) {
    const uint32_t keys = AddBlock(21, 90), zeros = AddBlock(31, 90);
    const uint32_t widens = AddOp("aten::to", kNone, {20, 22}, {hidden_}, keys);
    step_.ops[widens].asks = asks;
    const uint32_t made = AddOp("aten::zeros", kNone, {30, 32}, {}, zeros);
    if (into_zeros)
      AddOp(operation, kNone, {40, 42}, {zeros, keys}, zeros);
    else
      AddOp(operation, kNone, {40, 42}, {keys, zeros}, AddBlock(41, 90));
    Versions versions(step_, kFloatType);
    versions.Decide(hidden_, kBfloat16Type), versions.Decide(keys, kFloatType);
    if (wide) versions.Widen(keys, widens);
    return question(step_, versions, CallsOf(step_), made, zeros);
  }
};

TEST_F(MultipliesFloatTest, AProductRefusesOtherTypesThanThatOfWhatTheSourceMadeWide) {
  EXPECT_TRUE(Multiplies("aten::matmul", Asks::kType));
}

TEST_F(MultipliesFloatTest, OtherOperatorsTakeTwoTypes) {
  EXPECT_FALSE(Multiplies("aten::mul", Asks::kType));
}

TEST_F(MultipliesFloatTest, WhatIsNotKnownToBeWideTellsNothing) {
  EXPECT_FALSE(Multiplies("aten::matmul", Asks::kNotTold)) << "x.to(device) is recorded alike";
  EXPECT_FALSE(Multiplies("aten::matmul", Asks::kType, false));
}

// images = images.float(); padded = torch.zeros(..., dtype=images.dtype); padded[:, :, :h, :w].copy_(images)
TEST_F(MultipliesFloatTest, WhatIsFilledWithWhatTheProgramMadeWideHasItsType) {
  const auto filled = [&](const char* operation, bool wide, bool into_zeros) {
    return Asked(TakesCopiesOfFloat, operation, Asks::kNotTold, wide, into_zeros);
  };
  EXPECT_TRUE(filled("aten::copy_", true, true));
  EXPECT_FALSE(filled("aten::copy_", false, true)) << "it is computed from what is low";
  EXPECT_FALSE(filled("aten::copy_", true, false)) << "it is copied from";
  EXPECT_FALSE(filled("aten::add_", true, true)) << "two types may be added";
}

// m = torch.tensor(0.5, dtype=torch.float32).type(hidden.dtype)
TEST_F(MeetsTypeTest, WhatTheProgramConvertsToItWasMadeInAnotherOne) {
  const Op& to = step_.ops[between_];
  step_.operands[to.first_input].block = step_.operands[to.first_output].block = zeros_;
  EXPECT_TRUE(Meets(kNone)) << "a call that only moves";
  step_.ops[between_].asks = Asks::kTensor;
  EXPECT_FALSE(Meets(kNone));
}

// kind = x.dtype; y = x.reshape(8, 64).float(); (y * 2).to(kind), in apply_split_rotary_emb of diffusers: x
// itself was not made wider, and what its type is the rest of the function tells.
TEST_F(AskedTypesTest, WhatHasAWiderCopyByAnotherNameIsNotAskedAsThat) {
  const uint32_t wide = AddOp("aten::to", kNone, {30, 32}, {sum_}, sum_), twice = AddBlock(41, 90);
  AddOp("aten::mul", kNone, {40, 42}, {sum_}, twice);
  const uint32_t to = AddOp("aten::to", kNone, {50, 52}, {twice}, twice);
  step_.ops[wide].asks = Asks::kType;
  step_.ops[to].asks = Asks::kOrigin, step_.ops[to].asked = sum_;
  const auto told = [&] {
    Versions versions(step_, kFloatType);
    versions.Decide(sum_, kFloatType);
    versions.Widen(sum_, wide);
    return TypeOfTold(step_, versions, to);
  };
  EXPECT_EQ(told(), 0);
  step_.ops[wide].again = true;
  EXPECT_EQ(told(), kFloatType) << "x = x.float()";
}

// hot = one_hot(hidden.argmin()).to(hidden.dtype); weight += hot; hot @ hidden
TEST_F(AskedTypesTest, IntegersAreConvertedToTheTypeOfTheFactorThatTheyWereChosenBy) {
  const uint32_t hot = AddBlock(37, 90), converted = AddBlock(41, 90);
  const uint32_t to = AddOp("aten::to", kNone, {40, 42}, {hot}, converted);
  step_.operands[step_.ops[to].first_input].dtype = 4;
  AddOp("aten::add_", kNone, {45, 47}, {weight_, converted}, weight_);
  const uint32_t product = AddOp("aten::matmul", kNone, {50, 52}, {converted, hidden_}, AddBlock(51, 90));
  const auto low = [&](Asks asks, uint8_t of_hidden) {
    step_.ops[to].asks = asks;
    Versions versions(step_, kFloatType);
    versions.Decide(hidden_, of_hidden);
    return MeetsType(step_, versions, CallsOf(step_), kBfloat16Type, to, converted,
                     [](uint32_t) { return false; });
  };
  EXPECT_TRUE(low(Asks::kOrigin, kBfloat16Type));
  EXPECT_FALSE(low(Asks::kOrigin, kFloatType));
  EXPECT_FALSE(low(Asks::kType, kBfloat16Type));
  step_.blocks[hidden_].begin = 43;
  EXPECT_FALSE(low(Asks::kOrigin, kBfloat16Type)) << "nothing was chosen by it";
  step_.blocks[hidden_].begin = 5,
  (*step_.own_texts)[step_.ops[product].name - whatif::Step::kFirstOwnText] = "aten::mul";
  EXPECT_FALSE(low(Asks::kOrigin, kBfloat16Type)) << "no product asks for one type";
}

// decay = decay.to(state.dtype); self.cell(state, decay)
TEST_F(AskedTypesTest, WhatIsConvertedToBeHandedOnMeetsWhatItIsMeantForInTheCall) {
  Module("net.cell", 60, 80, 0);
  const uint32_t decay = AddBlock(31, 90), later = AddBlock(61, 90);
  AddOp("aten::exp", kNone, {30, 32}, {weight_}, decay);
  const uint32_t to = AddOp("aten::to", kNone, {50, 52}, {decay}, decay);
  step_.ops[to].asks = Asks::kTensor;
  AddOp("aten::mul", kNone, {60.5, 62}, {sum_}, later);
  AddOp("aten::mul", kNone, {65, 67}, {decay, sum_}, AddBlock(66, 90));
  const auto asked = [&](uint32_t met, uint8_t type) {
    step_.operands[step_.ops.back().first_input + 1].block = met;
    Versions versions(step_, kFloatType);
    versions.Decide(hidden_, kBfloat16Type);
    if (type != 0) versions.Decide(met, type);
    return TypeAskedFor(step_, versions, CallsOf(step_), to);
  };
  EXPECT_EQ(asked(sum_, kBfloat16Type), kBfloat16Type);
  EXPECT_EQ(asked(sum_, kFloatType), kFloatType);
  EXPECT_EQ(asked(sum_, 0), 0) << "not known";
  EXPECT_EQ(asked(later, kBfloat16Type), 0) << "the call made it, so that nobody can have asked for its type";
  EXPECT_EQ(asked(weight_, 0), 0) << "who asks for a parameter's is told";
}

// A question must not take as long as the whole step.
TEST_F(AskedTypesTest, WhatLiesVeryFarBackIsNoOrigin) {
  const auto asked = [&](int operators) {
    uint32_t last = sum_;
    for (int i = 0; i < operators; ++i) {
      const Position at = 18 + 0.01 * i;
      const uint32_t made = AddBlock(at + 0.005, 90);
      AddOp("aten::neg", kNone, {at, at + 0.008}, {last}, made);
      last = made;
    }
    const uint32_t to = AddOp("aten::to", kNone, {50, 52}, {last}, last);
    step_.ops[to].asks = Asks::kOrigin;
    Versions versions(step_, kFloatType);
    versions.Decide(hidden_, kBfloat16Type);
    return TypeAskedFor(step_, versions, CallsOf(step_), to);
  };
  EXPECT_EQ(asked(500), kBfloat16Type);
  EXPECT_EQ(asked(2000), 0);
}

}  // namespace
}  // namespace vramscope::whatif
