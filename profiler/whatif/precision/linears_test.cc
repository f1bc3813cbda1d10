// SPDX-License-Identifier: Apache-2.0
// Linear layers that are given a part of a sequence, under autocast, as ProphetNet's streams are: the oracle
// are its runs on the simulated device.
#include "profiler/whatif/precision/linears.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// linear(x, weight, bias) = clone, mm; then a layer that takes addmm.
struct Layer {
  std::vector<int64_t> shape = {4, 32, 64}, strides = {32 * 64 * 3, 64, 1};  // of x: a third of each sample
  bool biased = true;
  int64_t features = 64;  // that it makes
};

class PrecisionLinearsTest : public testing::Test {
 protected:
  static constexpr uint32_t kInput = 0, kClone = 1, kWorkspace = 2, kOther = 3;  // blocks
  static constexpr uint64_t kOfMm = 8 << 20, kOfAddmm = 1 << 20, kOfBmm = 2 << 20;

  [[nodiscard]] Step Written(const Layer& layer) {
    Step bare;
    bare.run = &run_;
    bare.shapes.push_back({});
    Inserter into(bare, {});
    StepBlock block;
    (void)into.AddBlock(block);
    Operand x;
    x.block = kInput, x.dtype = 6;
    x.shape = into.ShapeOf(layer.shape), x.strides = into.ShapeOf(layer.strides);
    std::vector<Operand> given(layer.biased ? 3 : 2);
    given[0] = x;
    given[1].shape = into.ShapeOf({layer.features, layer.shape.back()});
    const uint32_t linear = into.Begin("aten::linear", kNone, kNone, 1, given);
    const uint32_t clone = into.Begin("aten::clone", linear, kNone, 2, {x});
    Add(into, clone, 2.5, false, 4 * 32 * 64 * 4);
    Operand cloned = x;
    cloned.block = kClone;
    into.End(clone, 3, {cloned});
    const uint32_t product = into.Begin("aten::mm", linear, kNone, 4, {cloned});
    Add(into, product, 4.5, true, kOfMm);
    into.End(product, 5, {});
    into.End(linear, 6, {});
    const uint32_t other = into.Begin("aten::addmm", kNone, kNone, 7, {});
    Add(into, other, 7.5, true, kOfAddmm);
    into.End(other, 8, {});
    const uint32_t many = into.Begin("aten::bmm", kNone, kNone, 9, {});
    Add(into, many, 9.5, true, kOfBmm);
    into.End(many, 9.8, {});
    const uint32_t of_product = into.AddNode(product, 4.5), of_sum = into.AddNode(linear, 5.5);
    const auto gradient = [&](const char* name, uint32_t node, Position at,
                              const std::vector<Operand>& from) {
      const uint32_t op = into.Begin(name, kNone, node, at, from);
      Operand result = x;
      result.block = Add(into, op, at + 0.5, false, 512);
      into.End(op, at + 1, {result});
      return result.block;
    };
    of_bias_ = gradient("aten::sum", of_sum, 20, {});
    of_weight_ = gradient("aten::mm", of_product, 22, {cloned});
    of_input_ = gradient("aten::mm", of_product, 24, {});
    return std::move(into).Finish();
  }
  [[nodiscard]] bool IsGone(const Layer& layer) {
    const Step step = Written(layer);
    return ClonedInLinear(step, step.ops[1]) != nullptr;
  }
  // Of the layer's product, where its clone is gone or not.
  [[nodiscard]] uint64_t Workspace(const Layer& layer, bool gone) {
    const Step step = Written(layer);
    Step changed = step;
    if (gone) changed.blocks[kClone].requested = 0;
    ComputeAsAddmm(step, changed);
    EXPECT_EQ(changed.blocks[kOther].requested, kOfAddmm);
    return changed.blocks[kWorkspace].requested;
  }

 private:
  static uint32_t Add(Inserter& into, uint32_t op, Position begin, bool workspace, uint64_t bytes) {
    StepBlock block;
    block.op = op, block.begin = begin, block.end = begin < 10 ? begin + 0.2 : 40;
    block.workspace = workspace, block.requested = bytes;
    return into.AddBlock(block);
  }

  model::Run run_;

 protected:
  uint32_t of_bias_ = kNone, of_weight_ = kNone, of_input_ = kNone;  // blocks of gradients
};

TEST_F(PrecisionLinearsTest, WhatAConversionLeavesWithoutGapsIsNotCloned) {
  EXPECT_TRUE(IsGone({}));
  EXPECT_TRUE(IsGone({.biased = false}));
  EXPECT_TRUE(IsGone({.shape = {4, 2, 16, 64}, .strides = {6144, 1024, 64, 1}}));
  EXPECT_FALSE(IsGone({.strides = {64, 256, 1}})) << "rows beside each other keep their strides";
  EXPECT_FALSE(IsGone({.strides = {64 * 3, 256 * 3, 3}})) << "so is what is made of others in their order";
  EXPECT_FALSE(IsGone({.strides = {0, 64, 1}})) << "what is expanded is not looked at";
  Step untold = Written({});
  untold.ops[0].input_count = 0;
  EXPECT_EQ(ClonedInLinear(untold, untold.ops[1]), nullptr)
      << "a trace that tells nothing of what the layer is given";
}

TEST_F(PrecisionLinearsTest, ItsProductTakesTheWorkspaceOfAddmm) {
  EXPECT_EQ(Workspace({}, true), kOfAddmm);
  EXPECT_EQ(Workspace({}, false), kOfMm);
  EXPECT_EQ(Workspace({.biased = false}, true), kOfMm);
}

// As the gate of a router, or a head that tells one number of each token.
TEST_F(PrecisionLinearsTest, WithOneFeatureItTakesTheWorkspaceOfBmm) {
  EXPECT_EQ(Workspace({.features = 1}, true), kOfBmm);
  EXPECT_EQ(Workspace({.features = 2}, true), kOfAddmm);
  EXPECT_EQ(Workspace({.features = 1}, false), kOfMm);
}

TEST_F(PrecisionLinearsTest, ItsGradientsComeInTheOrderOfAddmm) {
  const auto order = [&](const Layer& layer, bool gone) {
    const Step step = Written(layer);
    Step changed = step;
    if (gone) changed.blocks[kClone].requested = 0;
    ComputeAsAddmm(step, changed);
    std::vector<uint32_t> blocks = {of_bias_, of_weight_, of_input_};
    std::sort(blocks.begin(), blocks.end(),
              [&](uint32_t a, uint32_t b) { return changed.blocks[a].begin < changed.blocks[b].begin; });
    return blocks;
  };
  const std::vector<uint32_t> as_addmm = order({}, true), as_recorded = order({}, false);
  EXPECT_EQ(as_addmm, (std::vector{of_input_, of_weight_, of_bias_}));
  EXPECT_EQ(as_recorded, (std::vector{of_bias_, of_weight_, of_input_}));
  EXPECT_EQ(order({.biased = false}, true), (std::vector{of_bias_, of_weight_, of_input_}))
      << "not its own sum";
}

// addmm(rows, x, y), and a layer with a bias; measured with PyTorch 2.15 on a simulated A100.
class WholeAddmmTest : public testing::Test {
 protected:
  [[nodiscard]] uint64_t Workspace(const View& added, bool low = true, const char* release = "2.15.0+cu130") {
    constexpr uint32_t kAdded = 0, kResult = 1, kRows = 2, kOfRows = 3;
    const Step bare = BareStep(&run_);
    Inserter into(bare, {});
    StepBlock block;
    for (uint32_t i = 0; i < 3; ++i) (void)into.AddBlock(block);
    const Operand result = Viewed(into, kResult, {{720, 720}, {720, 1}}, kFloat);
    const auto add = [&](const Operand& given, Position at, uint64_t workspace) {
      const uint32_t op = into.Begin("aten::addmm", kNone, kNone, at, {given});
      block.op = op, block.begin = at + 0.5, block.end = at + 0.8;
      block.workspace = true, block.requested = workspace;
      (void)into.AddBlock(block);
      into.End(op, at + 1, {result});
    };
    add(Viewed(into, kAdded, added, kFloat), 1, 8 << 20);
    add(Viewed(into, kRows, {{720}, {1}}, kFloat), 3, 1 << 20);
    Step step = std::move(into).Finish();
    step.torch_version = release;
    Step changed = step;
    MultiplyInLt(step, std::vector<bool>(step.blocks.size(), low), changed);
    return changed.blocks[kOfRows].requested;
  }

 private:
  model::Run run_;
};

TEST_F(WholeAddmmTest, In16BitsItTakesTheWorkspaceOfALayerWithABias) {
  EXPECT_EQ(Workspace({{720, 720}, {720, 1}}), 1u << 20);
  EXPECT_EQ(Workspace({{720, 720}, {1440, 1}}), 1u << 20) << "a part of wider rows";
  EXPECT_EQ(Workspace({{720, 720}, {720, 1}}, false), 8u << 20) << "in float32";
  EXPECT_EQ(Workspace({{720, 720}, {720, 1}}, true, "2.6.0"), 8u << 20);
}

TEST_F(WholeAddmmTest, ButNotOfWhatIsTransposedExpandedOrOneColumn) {
  EXPECT_EQ(Workspace({{720, 720}, {1, 720}}), 8u << 20);
  EXPECT_EQ(Workspace({{720, 720}, {0, 1}}), 8u << 20);
  EXPECT_EQ(Workspace({{720, 1}, {1, 1}}), 8u << 20);
}

// Persimmon's norms of queries, which lie between keys and values: the oracle is its run on the simulated
// device.
TEST(ClonedInNormTest, WhatIsConvertedForANormIsNotClonedInIt) {
  constexpr uint64_t kBytes = 4 * 32 * 64 * 4;
  model::Run run;
  run.streams.push_back(0);
  const std::vector<int64_t> in_order = {32 * 64, 64, 1}, transposed = {32 * 64, 1, 32};
  const auto clone = [&](const std::vector<int64_t>& strides, Position converted,
                         const std::vector<int64_t>& as) {
    Step bare;
    bare.run = &run;
    bare.length = 300;
    bare.shapes.push_back({});
    Inserter into(bare, {});
    StepBlock block;
    block.begin = 1, block.end = 90, block.requested = 3 * kBytes;
    Operand queries;
    queries.block = into.AddBlock(block), queries.dtype = kFloatType;
    queries.shape = into.ShapeOf({4, 32, 64}), queries.strides = into.ShapeOf(strides);
    const uint32_t norm = into.Begin("aten::layer_norm", kNone, kNone, 10, {queries});
    const uint32_t contiguous = into.Begin("aten::contiguous", norm, kNone, 11, {queries});
    const uint32_t op = into.Begin("aten::clone", contiguous, kNone, 12, {queries});
    block.begin = 13, block.end = 19, block.op = op, block.requested = kBytes;
    Operand cloned = queries;
    cloned.block = into.AddBlock(block), cloned.strides = into.ShapeOf(as);
    into.End(op, 14, {cloned}), into.End(contiguous, 15, {cloned}), into.End(norm, 20, {});
    const Step step = std::move(into).Finish();
    Versions versions(step, kFloatType);
    versions.Decide(queries.block, kBfloat16Type);
    if (converted < kForever) versions.Cast(queries.block, kFloatType, converted, norm, queries);
    TakeCopyForClone(step, step.ops[op], versions);
    return std::move(versions).Finish({}).blocks[cloned.block].requested;
  };
  EXPECT_EQ(clone({32 * 192, 192, 1}, 10.05, in_order), 0u);
  EXPECT_EQ(clone({32 * 192, 192, 1}, kForever, in_order), kBytes) << "in the type that the norm wants";
  EXPECT_EQ(clone({32 * 192, 192, 1}, 5, in_order), kBytes)
      << "converted before, as a part of something else";
  EXPECT_EQ(clone({64, 256, 1}, 10.05, in_order), kBytes)
      << "dense, so that the conversion keeps its strides";
  // A convolution of images that lie so: contiguous(channels_last).
  EXPECT_EQ(clone({33 * 64, 1, 32}, 10.05, transposed), 0u);
  EXPECT_EQ(clone({33 * 64, 1, 32}, 10.05, in_order), kBytes) << "in another order";
}

}  // namespace
}  // namespace vramscope::whatif
