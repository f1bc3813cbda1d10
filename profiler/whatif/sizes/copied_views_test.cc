// SPDX-License-Identifier: Apache-2.0
// As recorded of SAM's attention, of a batch of four with four heads of 48, and 8 x 8 patches.
#include "profiler/whatif/sizes/copied_views.h"

#include <gtest/gtest.h>

#include "profiler/whatif/sizes/single_sample.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

using Sizes = std::vector<int64_t>;

class CopiedViewsTest : public testing::Test, protected WrittenStep {
 protected:
  CopiedViewsTest() {
    axis_.batch = 4;
    qkv_ = Add(10, 30, 36864), copy_ = Add(21, 190, 12288);
    step_.blocks[copy_].op = reshape_ = Call("aten::reshape", model::kNone, 20, 22);
    Give(qkv_, {3, 4, 4, 64, 48}, {192, 36864, 48, 576, 1});
    Make(copy_, {3, 16, 64, 48}, {49152, 3072, 48, 1});
    einsum_ = Call("aten::einsum", model::kNone, 40, 50);
  }

  uint32_t Add(Position begin, Position end, uint64_t sample) {
    axis_.stride.push_back(sample), axis_.second.push_back(0);
    return AddBlock(begin, end);
  }
  void Give(uint32_t block, const Sizes& sizes, const Sizes& strides) {
    Op& op = step_.ops.back();
    op.first_output = static_cast<uint32_t>(step_.operands.size()) + 1, ++op.input_count;
    step_.operands.push_back(Shown(block, sizes, strides));
  }
  void Make(uint32_t block, const Sizes& sizes, const Sizes& strides) {
    ++step_.ops.back().output_count;
    step_.operands.push_back(Shown(block, sizes, strides));
  }
  Operand Shown(uint32_t block, const Sizes& sizes, const Sizes& strides) {
    Operand operand;
    operand.op = static_cast<uint32_t>(step_.ops.size() - 1);
    operand.block = block, operand.dtype = 6;  // float
    operand.shape = Shaped(sizes), operand.strides = Shaped(strides);
    return operand;
  }
  // bmm of what was reshaped from this; its node keeps that until 150.
  void Multiply(const Sizes& sizes, const Sizes& strides, const Sizes& into, const Sizes& apart) {
    (void)Call("aten::reshape", einsum_, 41, 42);
    Give(copy_, sizes, strides);
    Make(copy_, into, apart);
    const uint32_t bmm = Call("aten::bmm", einsum_, 44, 45);
    Give(copy_, into, apart);
    const uint32_t node = Node(150);
    step_.nodes[node].op = bmm;
    Saved saved;
    saved.block = copy_, saved.node = node, saved.released = 150;
    step_.saved.push_back(saved);
  }
  [[nodiscard]] std::vector<Block> Copies() const {
    const Block copy{.begin = 21, .end = 190, .bytes = 147456, .origin = copy_};
    return CopiesOfViews(step_, axis_, step_.ops[reshape_], copy);
  }

  BatchAxis axis_;
  uint32_t qkv_ = 0, copy_ = 0, reshape_ = 0, einsum_ = 0;
};

TEST_F(CopiedViewsTest, SamplesBehindQueryKeyAndValueAreViewedToo) {
  EXPECT_EQ(ViewOfOneSample(step_, axis_, step_.ops[reshape_]), (Extents{192, 48, 576, 1}));
  EXPECT_EQ(CopiedForSamples(step_, axis_, copy_), qkv_);
  axis_.stride[qkv_] = 48;
  EXPECT_FALSE(ViewOfOneSample(step_, axis_, step_.ops[reshape_])) << "heads are as many by chance";
}

TEST_F(CopiedViewsTest, HeadsAndRowsThatLieApartThenAreCopiedForTheirProduct) {
  Multiply({8, 16, 8, 48, 1}, {48, 3072, 384, 1, 1}, {8, 128, 48}, {48, 384, 1});
  ASSERT_EQ(Copies().size(), 1u);
  EXPECT_EQ(Copies()[0].bytes, 147456u / 3);
  EXPECT_GT(Copies()[0].begin, 41);
  EXPECT_LT(Copies()[0].begin, 42);
  EXPECT_EQ(Copies()[0].end, 150) << "as the product keeps it";
  Scene scene;
  scene.blocks = {{.begin = 10, .end = 30, .bytes = 589824, .origin = qkv_},
                  {.begin = 21, .end = 190, .bytes = 147456, .origin = copy_}};
  LeaveOutCopiesForSamples(step_, axis_, scene);
  ASSERT_EQ(scene.blocks.size(), 3u);
  EXPECT_EQ(scene.blocks[0].end, 190);
  EXPECT_EQ(scene.blocks[1].bytes, 0u);
  EXPECT_EQ(scene.blocks[2].bytes, 147456u / 3);
}

TEST_F(CopiedViewsTest, WhatCountsHeadsAloneIsAViewStill) {
  Multiply({16, 64, 48}, {3072, 48, 1}, {16, 8, 8, 48}, {3072, 384, 48, 1});
  EXPECT_TRUE(Copies().empty());
}

// x.transpose(1, 2).view(4, 64, 8, 8) of tokens, as SegFormer makes an image of them.
TEST_F(CopiedViewsTest, AnImageOfTokensDoesNotLieChannelsLastWithOneSample) {
  const auto why = [&](const Sizes& strides, const Sizes& apart, const char* name = "aten::view",
                       const char* next = "aten::convolution") {
    step_.ops.clear(), step_.operands.clear();
    axis_.stride[qkv_] = 4096;
    (void)Call(name, model::kNone, 60, 61);
    Give(qkv_, {4, 64, 64}, strides);
    Make(qkv_, {4, 64, 8, 8}, apart);
    (void)Call(next, model::kNone, 62, 63);
    Give(qkv_, {4, 64, 8, 8}, apart);
    return WhyOneLiesOtherwise(step_, axis_);
  };
  EXPECT_EQ(why({4096, 1, 64}, {4096, 1, 512, 64}),
            "a view of [4, 64, 8, 8] lies channels last, which PyTorch does not say of one of one sample: "
            "convolutions copy what they are given then. Record it with one sample.");
  EXPECT_EQ(why({4096, 64, 1}, {4096, 64, 8, 1}), "") << "channels first";
  EXPECT_EQ(why({4096, 1, 64}, {4096, 1, 512, 64}, "aten::permute"), "");
  EXPECT_EQ(why({4096, 1, 64}, {4096, 1, 512, 64}, "aten::view", "aten::add"), "") << "no convolution";
}

}  // namespace
}  // namespace vramscope::whatif
