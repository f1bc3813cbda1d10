// SPDX-License-Identifier: Apache-2.0
// What is computed from x.transpose(1, 2).to(torch.float32, memory_format=torch.contiguous_format), as the
// gated delta rule of Qwen3.5 does: the oracle are its runs on the simulated device.
#include "profiler/whatif/precision/layouts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/testing/tensor_script.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint64_t kProductBytes = 2 * 3 * 4 * 5 * 4;

// [2, 3, 4, 5], heads between rows: to, mul, and what clones a view of the product.
struct Call {
  bool contiguous = true, converted = true;
  std::string around = "aten::reshape";
  bool autocast = false;  // converts the view
  std::vector<int64_t> view = {2, 3, 4, 5}, strides = {60, 5, 15, 1}, joined = {6, 4, 5};
};

class PrecisionLayoutsTest : public testing::Test {
 protected:
  static constexpr uint32_t kProduct = 1, kClone = 2;  // blocks
  static constexpr Position kReleased = 200;

  PrecisionLayoutsTest() { run_.streams.push_back(0); }

  [[nodiscard]] bool IsCloned(const Call& call) {
    return Changed(call).blocks[kClone].requested == kProductBytes;
  }

  // A node keeps the clone until kReleased.
  [[nodiscard]] Step Changed(const Call& call) {
    Step bare = BareStep(&run_);
    bare.length = 300;
    Inserter into(bare, {});
    const auto add = [&](Position begin) {
      StepBlock block;
      block.begin = begin, block.end = begin < 12 ? 90 : kReleased, block.requested = kProductBytes;
      return into.AddBlock(block);
    };
    Operand x;
    x.block = add(1), x.dtype = kFloatType;
    x.shape = into.ShapeOf({2, 3, 4, 5}), x.strides = into.ShapeOf({60, 5, 15, 1});
    const uint32_t to = into.Begin("aten::to", kNone, kNone, 5, {x});
    into.End(to, 6, {x});
    const uint32_t mul = into.Begin("aten::mul", kNone, kNone, 7, {x});
    Operand product = x;
    product.block = add(8);
    into.End(mul, 9, {product});
    Operand view = product;
    view.shape = into.ShapeOf(call.view), view.strides = into.ShapeOf(call.strides);
    const uint32_t around = into.Begin(call.around, kNone, kNone, 10, {view});
    const uint32_t clone = into.Begin("aten::clone", around, kNone, 11, {view});
    Operand cloned = view, joined = view;
    cloned.block = joined.block = add(12);
    cloned.strides = into.ShapeOf(StridesWithoutGaps(call.view));
    joined.shape = into.ShapeOf(call.joined), joined.strides = into.ShapeOf(StridesWithoutGaps(call.joined));
    into.End(clone, 13, {cloned}), into.End(around, 14, {joined});
    Step step = std::move(into).Finish();
    step.ops[to].contiguous = call.contiguous;
    step.saved.push_back({.block = kClone, .at = 13, .released = kReleased});
    Versions versions(step, kFloatType);
    Layouts layouts(step, versions);
    versions.Decide(x.block, kBfloat16Type), versions.Decide(product.block, kFloatType);
    if (call.converted) versions.Cast(x.block, kFloatType, 5.05, kNone, x);
    layouts.Converted(step.ops[to]), layouts.Computed(step.ops[mul]);
    if (call.autocast) versions.Cast(product.block, kBfloat16Type, 10.05, around, view);
    if (call.autocast) layouts.Copied(view, product.block);
    for (const uint32_t op : {clone, around}) layouts.Computed(step.ops[op]);
    return std::move(versions).Finish({versions.Current(kClone)});
  }

  model::Run run_;
};

TEST_F(PrecisionLayoutsTest, WhatIsComputedFromACopyWithoutGapsIsViewed) {
  EXPECT_FALSE(IsCloned({}));
  EXPECT_TRUE(IsCloned({.contiguous = false})) << "the copy lies as what it is of";
  EXPECT_TRUE(IsCloned({.converted = false})) << "it has that type";
  EXPECT_FALSE(IsCloned({.around = "aten::contiguous", .joined = {2, 3, 4, 5}}));
  EXPECT_TRUE(IsCloned({.around = "aten::pad", .joined = {2, 3, 4, 5}})) << "a clone that the program wants";
}

TEST_F(PrecisionLayoutsTest, SoAreViewsOfItWhoseDimensionsLieInEachOther) {
  EXPECT_FALSE(IsCloned({.view = {2, 3, 2, 2, 5}, .strides = {60, 5, 30, 15, 1}, .joined = {12, 2, 5}}));
  EXPECT_FALSE(IsCloned({.view = {2, 3, 5, 4}, .strides = {60, 5, 1, 15}, .joined = {6, 5, 4}}));
  EXPECT_FALSE(IsCloned({.view = {2, 3, 2, 5}, .strides = {60, 5, 15, 1}, .joined = {6, 2, 5}}));
  EXPECT_TRUE(IsCloned({.view = {2, 3, 2, 5}, .strides = {60, 5, 15, 1}, .joined = {12, 5}}))
      << "two rows of four";
  EXPECT_TRUE(IsCloned({.view = {2, 3, 4, 4}, .strides = {60, 5, 15, 2}, .joined = {6, 4, 4}}))
      << "along no dimension";
}

TEST_F(PrecisionLayoutsTest, AutogradKeepsWhatIsNotCloned) {
  const Step viewed = Changed({});
  EXPECT_EQ(viewed.saved[0].block, kProduct);
  EXPECT_EQ(viewed.saved[0].share, 1);
  EXPECT_NEAR(viewed.blocks[kProduct].end, kReleased, 0.01);
  const Step cloned = Changed({.contiguous = false});
  EXPECT_EQ(cloned.saved[0].block, kClone);
  EXPECT_EQ(cloned.blocks[kProduct].end, 90);
  const Step converted = Changed({.autocast = true});
  const uint32_t copy = converted.saved[0].block;
  EXPECT_EQ(converted.blocks[copy].copy_of, kProduct);
  EXPECT_NEAR(converted.blocks[copy].end, kReleased, 0.01);
}

// Of a part the copy has no gaps.
TEST_F(PrecisionLayoutsTest, SoIsWhatAutocastConvertsOfIt) {
  EXPECT_FALSE(IsCloned({.autocast = true}));
  EXPECT_FALSE(
      IsCloned({.autocast = true, .view = {2, 3, 2, 5}, .strides = {60, 5, 15, 1}, .joined = {12, 5}}));
  EXPECT_TRUE(IsCloned({.contiguous = false, .autocast = true}));
}

// cat() puts together words [2, 3, 5] in 16 bits and others [2, 7, 5] in float32, and its node hands out
// parts of one block; that of the words is converted alone.
TEST_F(PrecisionLayoutsTest, APartOfAGradientThatIsConvertedHasNoGaps) {
  const auto is_cloned = [&](bool converted, const char* around) {
    const std::vector<int64_t> sizes = {2, 3, 5};
    Step bare = BareStep(&run_);
    bare.length = 300;
    bare.backward.push_back({50, 150});
    Inserter into(bare, {});
    StepBlock block;
    block.begin = 60, block.end = 90, block.requested = 2 * 10 * 5 * 4;
    Operand part;
    part.block = into.AddBlock(block), part.dtype = kFloatType;
    part.shape = into.ShapeOf(sizes), part.strides = into.ShapeOf({50, 5, 1});
    block.begin = 72, block.requested = 2 * 3 * 5 * 4;
    Operand cloned = part, joined = part;
    cloned.block = joined.block = into.AddBlock(block);
    cloned.strides = into.ShapeOf(StridesWithoutGaps(sizes));
    joined.shape = into.ShapeOf({6, 5}), joined.strides = into.ShapeOf({5, 1});
    const uint32_t node = into.AddNode(kNone, 70);
    const uint32_t outer = into.Begin(around, kNone, node, 70, {part});
    const uint32_t clone = into.Begin("aten::clone", outer, node, 71, {part});
    into.End(clone, 73, {cloned}), into.End(outer, 74, {joined});
    const Step step = std::move(into).Finish();
    Versions versions(step, kFloatType);
    Layouts layouts(step, versions);
    versions.Decide(part.block, kFloatType);
    if (converted) versions.Cast(part.block, kBfloat16Type, 65, kNone, part);
    layouts.Computed(step.ops[clone]);
    return std::move(versions).Finish({}).blocks[cloned.block].requested != 0;
  };
  EXPECT_FALSE(is_cloned(true, "aten::reshape"));
  EXPECT_TRUE(is_cloned(false, "aten::reshape")) << "the others lie between";
  EXPECT_TRUE(is_cloned(true, "aten::pad"));
}

// q, v = linear(x), other widths; both are converted, v the last; (q * q).reshape(...) of heads before rows.
class Parts : public TensorScript {
 public:
  Parts() {
    constexpr const char* kQuery[] = {"2,3,4,5", "144,5,36,1"};
    constexpr const char* kValue[] = {"2,3,4,7", "144,7,36,1"};
    s.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
    s.Alloc("weight", 36 * 36 * 4).Parameter("weight", "linear.weight");
    s.Alloc("x", 8 * 36 * 4);
    s.Mark(trace::MarkKind::kDeepBegin, 1);
    s.Mark(trace::MarkKind::kConversion, 0, "net.py:1 type");
    for (int call = 1; call <= 3; ++call) {
      s.Module("", [&] {
        s.Op("aten::linear", [&] {
          In("x", "8,36", "36,1"), In("weight", "36,36", "36,1", 1);
          s.Alloc("both", 8 * 36 * 4);
          Out("both", "8,36", "36,1");
        });
        View("both", kFirstTensor, kQuery, 11), View("both", kFirstTensor, kValue, 12);
        To("both", kQuery, 11), To("both", kValue, 12);
        s.Op("aten::mul", [&] {
          In("both", kQuery[0], kQuery[1], 0, 11), In("both", kQuery[0], kQuery[1], 1, 11);
          s.Alloc("product", kProductBytes);
          Out("product", "2,3,4,5", "60,5,15,1");
        });
        s.Op("aten::reshape", [&] {
          In("product", "2,3,4,5", "60,5,15,1");
          s.Op("aten::clone", [&] {
            In("product", "2,3,4,5", "60,5,15,1");
            s.Alloc("cloned", kProductBytes);
            Out("cloned", "2,3,4,5", "60,20,5,1");
          });
          Out("cloned", "6,4,5", "20,5,1");
        });
        for (const char* const block : {"cloned", "product", "both"}) s.Free(block);
      });
    }
  }
  [[nodiscard]] uint64_t Cloned() {
    const model::Run run = s.Load();
    const classify::Analysis analysis(run);
    const Step step = ReadStep(analysis, 0).value();
    for (uint32_t op = 0; op < step.ops.size(); ++op)
      if (step.NameOf(step.ops[op]) == "aten::clone")
        return AllInLow(step, kBfloat16Type).blocks[OutputsOf(step, step.ops[op])[0].block].requested;
    return kProductBytes;
  }

 private:
  void View(const char* block, uint64_t from, const char* const* lies, uint64_t tensor) {
    s.Op("aten::as_strided",
         [&] { In(block, "8,36", "36,1", 0, from), Out(block, lies[0], lies[1], tensor); });
  }
  void To(const char* block, const char* const* lies, uint64_t tensor) {
    s.Op("aten::to", [&] {
      In(block, lies[0], lies[1], 0, tensor);
      s.Event(trace::EventType::kOpScalar, {1, s.trace().Intern("torch.float32")});
      s.Event(trace::EventType::kOpScalar, {4, s.trace().Intern("torch.contiguous_format")});
      s.Event(trace::EventType::kOpScalar, {trace::kOpCaller, s.trace().Intern("Net.forward (net.py:1)")});
      Out(block, lies[0], lies[1], tensor);
    });
  }
};

TEST(PartsTest, OfSeveralPartsOfABlockEachLiesAsItsOwnCopyDoes) { EXPECT_EQ(Parts().Cloned(), 0u); }

// As it is recorded: the format is an argument.
class RecordedFormat : public TensorScript {
 public:
  [[nodiscard]] bool IsContiguous(const char* name, const char* format) {
    s.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
    s.Alloc("x", 4096);
    s.Mark(trace::MarkKind::kDeepBegin, 1);
    for (int call = 1; call <= 3; ++call) {
      s.Module("", [&] {
        s.Op(name, [&] {
          In("x", "32,32", "1,32");
          s.Event(trace::EventType::kOpScalar, {1, s.trace().Intern("torch.float32")});
          s.Event(trace::EventType::kOpScalar, {4, s.trace().Intern(format)});
          Out("x", "32,32", "1,32");
        });
      });
    }
    const model::Run run = s.Load();
    const classify::Analysis analysis(run);
    return ReadStep(analysis, 0).value().ops[0].contiguous;
  }
};

TEST(RecordedFormatTest, OfAConversionItIsToldAsAnArgument) {
  EXPECT_TRUE(RecordedFormat().IsContiguous("aten::to", "torch.contiguous_format"));
  EXPECT_FALSE(RecordedFormat().IsContiguous("aten::to", "torch.preserve_format"));
  EXPECT_FALSE(RecordedFormat().IsContiguous("aten::clone", "torch.contiguous_format"));
}

}  // namespace
}  // namespace vramscope::whatif
