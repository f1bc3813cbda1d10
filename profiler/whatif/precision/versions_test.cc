// SPDX-License-Identifier: Apache-2.0
// Which version of a gradient who wants a type is given. The oracle is InputBuffer::accumulate in
// torch/csrc/autograd/input_buffer.cpp: what is added in place stays the tensor that the others are given.
#include "profiler/whatif/precision/versions.h"

#include <gtest/gtest.h>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// residual + norm(x) in each layer: the residual's gradient is in 16 bits, what the norm is given of it is a
// copy in float32, and that of x is added to it.
class PrecisionVersionsTest : public testing::Test, protected WrittenOperators {
 protected:
  PrecisionVersionsTest() {
    gradient_ = AddBlock(110, 190);
    Module("layer", 0, 90);
    step_.blocks[gradient_].op = AddOp("aten::mm", 0, {109, 111}, {}, gradient_);
  }

  // The version that it is as this type then.
  static uint32_t As(Versions& versions, uint32_t block, uint8_t type, Position at, const Operand& operand) {
    if (versions.TypeOf(block) != type) versions.Cast(block, type, at, kNone, operand);
    return versions.Current(block);
  }

  uint32_t gradient_;
};

TEST_F(PrecisionVersionsTest, WhatWasWrittenToIsTheBlockWhateverWasMadeOfItSince) {
  const Operand& operand = step_.operands.back();
  Versions versions(step_, kFloatType);
  versions.Decide(gradient_, kFloatType);
  const uint32_t low = As(versions, gradient_, kBfloat16Type, 120, operand);
  versions.Written(gradient_, 125);
  const uint32_t wide = As(versions, gradient_, kFloatType, 130, operand);
  EXPECT_NE(wide, gradient_) << "which is not what was added up";
  EXPECT_EQ(As(versions, gradient_, kBfloat16Type, 140, operand), low);
  EXPECT_EQ(As(versions, gradient_, kFloatType, 145, operand), wide) << "nothing was added between";
  As(versions, gradient_, kBfloat16Type, 146, operand);
  versions.Written(gradient_, 150);
  EXPECT_NE(As(versions, gradient_, kFloatType, 155, operand), wide);
  EXPECT_EQ(As(versions, gradient_, kBfloat16Type, 160, operand), low);
}

TEST_F(PrecisionVersionsTest, ACopyOfWhatWasWrittenToIsAnother) {
  const Operand& operand = step_.operands.back();
  Versions versions(step_, kFloatType);
  versions.Decide(gradient_, kFloatType);
  const uint32_t low = As(versions, gradient_, kBfloat16Type, 120, operand);
  As(versions, gradient_, kFloatType, 125, operand);
  versions.Written(gradient_, 130);
  EXPECT_NE(As(versions, gradient_, kBfloat16Type, 140, operand), low);
}

// stack([q, k]): the gradients of both are parts of one block, and each of them is converted.
TEST_F(PrecisionVersionsTest, EachPartOfAGradientHasACopyOfItsOwn) {
  step_.shapes.push_back({1, 1, true}), step_.shapes.push_back({2, 1, true});
  step_.dims.push_back(64), step_.dims.push_back(1);
  Operand whole = step_.operands.back(), first = whole;
  whole.strides = first.strides = 3;
  first.shape = 2;
  Operand second = first;
  second.offset = 64;
  Versions versions(step_, kFloatType);
  versions.Decide(gradient_, kFloatType);
  const auto as = [&](const Operand& operand, Position at) {
    versions.See(operand);
    return As(versions, gradient_, kBfloat16Type, at, operand);
  };
  const uint32_t of_first = as(first, 120), of_second = as(second, 120.05);
  EXPECT_NE(of_first, of_second);
  EXPECT_EQ(as(first, 130), of_first);
  EXPECT_EQ(as(second, 135), of_second);
  versions.See(whole);
  EXPECT_EQ(versions.Current(gradient_), gradient_);
  versions.See(first);
  versions.Written(gradient_, 137);
  as(first, 138.5);
  EXPECT_EQ(as(second, 139), of_second) << "nothing was added to that";
  const uint32_t of_all = as(whole, 140);
  EXPECT_NE(of_all, of_second);
  versions.See(first);
  EXPECT_EQ(versions.Current(gradient_), of_all) << "it has that part as well";
}

// lstm(x) + x under autocast: cuDNN's recurrent networks return float16 there, whatever x is in.
TEST_F(PrecisionVersionsTest, TwoTypesOfSixteenBitsBecomeFloat) {
  const uint32_t x = AddBlock(10, 90), returned = AddBlock(12, 90);
  const Op& add = step_.ops[AddOp("aten::add", kNone, {15, 17}, {returned, x}, AddBlock(16, 90))];
  Versions versions(step_, kFloatType);
  versions.Decide(returned, kHalfType);
  for (const uint8_t type : {kHalfType, kBfloat16Type, kFloatType}) {
    versions.Decide(x, type);
    EXPECT_EQ(versions.PromotedOf(InputsOf(step_, add)), type == kHalfType ? kHalfType : kFloatType);
  }
}

// waveform.requires_grad = True: it is no parameter, and has another batch in each step.
TEST_F(PrecisionVersionsTest, ACopyThatALeafIsGivenIsThatLeafs) {
  constexpr uint32_t kWaveform = 0;
  const Operand& operand = step_.operands.back();
  step_.blocks[gradient_].accumulated = 120, step_.blocks[gradient_].leaf = kWaveform;
  Versions versions(step_, kFloatType);
  versions.Decide(gradient_, kBfloat16Type);
  versions.CastGradient(gradient_, kFloatType, 119, operand);
  const Step changed = std::move(versions).Finish({});
  EXPECT_EQ(changed.blocks.back().leaf, kWaveform);
  EXPECT_LT(changed.blocks.back().accumulated, kForever);
}

// A pooler that the loss does not come to: no gradient shows that it could be trained.
TEST_F(PrecisionVersionsTest, AutocastKeepsACopyOfAParameterThatGetsNoGradient) {
  const uint32_t pooler = AddBlock(kBefore, kForever);
  Operand operand = step_.operands.back();
  operand.block = pooler;
  const auto is_weight = [&] { return Versions(step_, kFloatType).IsWeight(operand); };
  operand.flags = trace::kTensorIsLeaf | trace::kTensorRequiresGrad;
  EXPECT_FALSE(is_weight()) << "no parameter";
  step_.blocks[pooler].category = classify::Category::kParameter;
  EXPECT_TRUE(is_weight());
  operand.flags = trace::kTensorIsLeaf;
  EXPECT_FALSE(is_weight()) << "frozen";
}

// y = x.to(type).reshape(...), which copies in float32: y is a view of what the program converted.
TEST_F(PrecisionVersionsTest, WhoHeldWhatIsLeftOutHoldsTheCopyThatItIsInstead) {
  const uint32_t x = AddBlock(10, 20), joined = AddBlock(18, 60);
  AddOp("aten::reshape", kNone, {17, 19}, {x}, joined);
  const Operand operand = step_.operands[step_.operands.size() - 2];
  const auto gone = [&](Position held) {
    Versions versions(step_, kFloatType);
    for (const uint32_t block : {x, joined}) versions.Decide(block, kFloatType);
    versions.Cast(x, kBfloat16Type, 15, kNone, operand);
    versions.LeaveOut(joined, x);
    versions.Used(joined, 25);
    versions.Held(joined, held);
    return std::move(versions).Finish({}).blocks.back().end;
  };
  EXPECT_NEAR(gone(50), 50, 0.01);
  EXPECT_NEAR(gone(22), 25, 0.01) << "its last use";
}

// x + self.positions.to(x.dtype), which are float64: module.to(torch.bfloat16) converts them.
TEST_F(PrecisionVersionsTest, ABufferOfFloat64IsNarrowedAndNeedsNoConversion) {
  constexpr uint8_t kDouble = 7;
  const uint32_t buffer = AddBlock(kBefore, kForever), copy = AddBlock(18, 60);
  step_.blocks[buffer].category = classify::Category::kBuffer;
  step_.blocks[buffer].requested = 4096, step_.blocks[copy].requested = 2048;
  const uint32_t op = AddOp("aten::_to_copy", kNone, {17, 19}, {buffer}, copy);
  step_.operands[step_.ops[op].first_input].dtype = kDouble;
  const auto narrowed = [&](uint8_t all, uint8_t type) {
    Versions versions(step_, all);
    versions.Decide(copy, type);
    const Step changed = std::move(versions).Finish({});
    return std::pair(changed.blocks[buffer].requested, changed.blocks[copy].requested);
  };
  EXPECT_EQ(narrowed(kBfloat16Type, kBfloat16Type), std::pair(1024UL, 0UL));
  EXPECT_EQ(narrowed(kBfloat16Type, kFloatType), std::pair(1024UL, 2048UL)) << "self.positions.float()";
  EXPECT_EQ(narrowed(kFloatType, kBfloat16Type), std::pair(4096UL, 1024UL)) << "under autocast";
}

// bmm(x, y), or einsum("...", x, y): copies that the operator makes of both for itself.
TEST(OwnCopiesTest, ThoseOfAListGoInItsOrderAndOthersInTheReverse) {
  class Program : public WrittenOperators {
   public:
    [[nodiscard]] bool FirstGoesFirst(bool list) {
      const uint32_t x = AddBlock(5, 90), y = AddBlock(6, 90), out = AddBlock(15, 90);
      AddOp("aten::rand", kNone, {4, 5.5}, {}, x);
      AddOp("aten::rand", kNone, {5.6, 7}, {}, y);
      const uint32_t op = AddOp("aten::bmm", kNone, {10, 20}, {x, y}, out);
      for (uint16_t i = 0; i < 2; ++i)
        step_.operands[step_.ops[op].first_input + i].element = list ? i + 1 : 0;
      const Step changed = UnderAutocast(step_, kBfloat16Type);
      const auto goes = [&](uint32_t block) {
        for (const StepBlock& one : changed.blocks)
          if (one.copy_of == block) return one.end;
        return kBefore;
      };
      return goes(x) < goes(y);
    }
  };
  EXPECT_TRUE(Program().FirstGoesFirst(true));
  EXPECT_FALSE(Program().FirstGoesFirst(false));
}

}  // namespace
}  // namespace vramscope::whatif
