// SPDX-License-Identifier: Apache-2.0
// Types that are asked for of what is made later, and of what C++ makes of numbers.
#include <gtest/gtest.h>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/precision/asked_types.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class AskedLaterTest : public testing::Test, protected WrittenOperators {
 protected:
  AskedLaterTest() {
    Module("net", 0, 90);
    hidden_ = AddBlock(5, 90);
  }

  uint32_t hidden_ = 0;
};

// places.to(x.dtype), of a parameter; x = cat([x, places of another one.to(x.dtype)]); x + places
TEST_F(AskedLaterTest, WhatIsMadeLaterOfLowOnesWillBeLow) {
  const uint32_t places = AddBlock(kBefore, kForever), other = AddBlock(kBefore, kForever);
  const uint32_t joined = AddBlock(36, 90), added = AddBlock(41, 90);
  const uint32_t to = AddOp("aten::to", kNone, {30, 31}, {places}, places);
  const uint32_t of_other = AddOp("aten::to", kNone, {32, 33}, {other}, other);
  AddOp("aten::cat", kNone, {35, 37}, {hidden_, other}, joined);
  AddOp("aten::add", kNone, {40, 42}, {joined, places}, added);
  step_.ops[to].asks = Asks::kTensor;
  const auto asked = [&](uint8_t low) {
    Versions versions(step_, kFloatType);
    versions.Decide(hidden_, kBfloat16Type);
    return TypeAskedFor(step_, versions, CallsOf(step_), to, false, low);
  };
  EXPECT_EQ(asked(kBfloat16Type), kFloatType) << "cat() is given a parameter";
  step_.ops[of_other].asks = Asks::kTensor;
  EXPECT_EQ(asked(kBfloat16Type), kBfloat16Type) << "which is converted before";
  EXPECT_EQ(asked(0), 0);
}

// near = cdist(hidden.float(), codes).argmin(); hot = one_hot(near).to(hidden.dtype); hot @ hidden
TEST_F(AskedLaterTest, WhatWasMadeWideForOneOperatorIsAFactorOfTheTypeThatItHas) {
  const uint32_t hot = AddBlock(37, 90), converted = AddBlock(41, 90);
  const uint32_t wide = AddOp("aten::to", kNone, {20, 22}, {hidden_}, hidden_);
  step_.ops[wide].asks = Asks::kType;
  const uint32_t to = AddOp("aten::to", kNone, {40, 42}, {hot}, converted);
  step_.ops[to].asks = Asks::kOrigin;
  step_.operands[step_.ops[to].first_input].dtype = 4;
  AddOp("aten::matmul", kNone, {50, 52}, {converted, hidden_}, AddBlock(51, 90));
  const auto low = [&](bool again) {
    step_.ops[wide].again = again;
    Versions versions(step_, kFloatType);
    versions.Decide(hidden_, kBfloat16Type);
    versions.Cast(hidden_, kFloatType, 21, kNone, InputsOf(step_, step_.ops[wide])[0]);
    versions.Widen(hidden_, wide);
    return MeetsType(step_, versions, CallsOf(step_), kBfloat16Type, to, converted,
                     [](uint32_t) { return false; });
  };
  EXPECT_TRUE(low(false));
  EXPECT_FALSE(low(true)) << "hidden = hidden.float()";
}

// ((hidden >= low) & (hidden < high)).to(hidden.dtype)
TEST_F(AskedLaterTest, ComparisonsAreConvertedToTheTypeOfWhatTheyCompare) {
  const uint32_t least = AddBlock(11, 90), most = AddBlock(21, 90), both = AddBlock(31, 90);
  hidden_ = AddBlock(-0.5, 90);  // what the module was given
  AddOp("aten::ge", kNone, {10, 12}, {hidden_}, least);
  AddOp("aten::lt", kNone, {20, 22}, {hidden_}, most);
  const uint32_t op = AddOp("aten::__and__", kNone, {30, 32}, {least, most}, both);
  const uint32_t to = AddOp("aten::to", kNone, {40, 42}, {both}, AddBlock(41, 90));
  for (const uint32_t one : {op, to})
    for (uint32_t i = 0; i < step_.ops[one].input_count; ++i)
      step_.operands[step_.ops[one].first_input + i].dtype = kBoolType;
  const auto low = [&](Asks asks, uint8_t of_hidden) {
    step_.ops[to].asks = asks;
    Versions versions(step_, kFloatType);
    versions.Decide(hidden_, of_hidden);
    return IsOfCompared(step_, versions, CallsOf(step_), kBfloat16Type, to);
  };
  EXPECT_TRUE(low(Asks::kOrigin, kBfloat16Type));
  EXPECT_FALSE(low(Asks::kOrigin, kFloatType));
  EXPECT_FALSE(low(Asks::kType, kBfloat16Type)) << ".float()";
}

// y = irfft2(rfft2(hidden) * weight).to(hidden.dtype)
TEST_F(AskedLaterTest, ASpectrumStandsForWhatItIsOf) {
  const uint32_t weight = AddBlock(kBefore, kForever);
  step_.blocks[weight].category = classify::Category::kParameter;
  const uint32_t spectrum = AddBlock(11, 90), product = AddBlock(21, 90), back = AddBlock(31, 90);
  hidden_ = AddBlock(-0.5, 90);
  AddOp("aten::fft_rfft2", kNone, {10, 12}, {hidden_}, spectrum);
  const uint32_t mul = AddOp("aten::mul", kNone, {20, 22}, {spectrum, weight}, product);
  const uint32_t inverse = AddOp("aten::fft_irfft2", kNone, {30, 32}, {product}, back);
  for (const uint32_t one : {mul, inverse})
    for (uint32_t i = 0; i < step_.ops[one].input_count; ++i)
      step_.operands[step_.ops[one].first_input + i].dtype = kComplexType;
  AddOp("aten::to", kNone, {40, 42}, {back}, back);
  Versions versions(step_, kFloatType);
  versions.Decide(hidden_, kBfloat16Type);
  EXPECT_EQ(TypeOfOrigin(step_, versions, back, 0), kBfloat16Type);
}

// hidden = layer(x); places(hidden.shape).to(hidden.dtype), where a module makes places from nothing.
TEST_F(AskedLaterTest, WhatTheFunctionMadeLastMayBeAskedFor) {
  Module("net.places", 20, 29, 0);
  const uint32_t last = AddBlock(11, 90), places = AddBlock(22, 90);
  AddOp("aten::linear", kNone, {10, 12}, {hidden_}, last);
  AddOp("aten::arange", kNone, {21, 23}, {}, places);
  const uint32_t to = AddOp("aten::to", kNone, {30, 31}, {places}, places);
  step_.ops[to].asks = Asks::kTensor;
  Versions versions(step_, kFloatType);
  versions.Decide(last, kBfloat16Type);
  EXPECT_EQ(TypeMadeLast(step_, versions, CallsOf(step_), to), kBfloat16Type);
  EXPECT_EQ(TypeAskedFor(step_, versions, CallsOf(step_), to, false, kBfloat16Type), 0) << "it is not told";
}

// torch.tensor(0.0, device=...), in C++: x is made wide where both meet.
TEST_F(AskedLaterTest, ATensorOfNumbersReturnsThroughLiftFresh) {
  const uint32_t number = AddBlock(31, 90);
  const uint32_t to = AddOp("aten::to", kNone, {30, 34}, {kNone}, number);
  AddOp("aten::copy_", to, {32, 33}, {number}, number);
  const uint32_t lift = AddOp("aten::lift_fresh", kNone, {35, 36}, {number}, number);
  EXPECT_TRUE(MakesTensor(step_, to));
  EXPECT_FALSE(MakesTensor(step_, lift));
  EXPECT_FALSE(MakesTensor(step_, AddOp("aten::to", kNone, {40, 44}, {hidden_}, hidden_)));
}

}  // namespace
}  // namespace vramscope::whatif
