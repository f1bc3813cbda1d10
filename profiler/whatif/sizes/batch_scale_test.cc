// SPDX-License-Identifier: Apache-2.0
// What a convolution, attention and a recurrent network take to work with, for another batch. The oracles are
// what PyTorch asked for in the first convolution of ResNet-50 with 8 and with 16 images of 64 x 64, 574,464
// and 1,098,752 bytes; and in the last attention of Swin with 12 and with 3 images of 4 windows, 6,150 and
// 1,537.5 KiB.
#include <gtest/gtest.h>

#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/step/radix_sort.h"
#include "profiler/whatif/testing/loop.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

constexpr uint32_t kImages = 0, kWeight = 1, kResult = 2, kWorkspace = 3;

class ConvolutionTest : public testing::Test {
 protected:
  ConvolutionTest() {
    step_.run = &run_;
    step_.own_texts = std::make_shared<std::deque<std::string>>();
    step_.own_texts->push_back("aten::cudnn_convolution");
    step_.shapes.push_back({});
    step_.blocks.resize(4);
    step_.blocks[kResult].requested = 8 * 64 * 32 * 32 * 4;
    step_.blocks[kWorkspace].op = 0;
    step_.blocks[kWorkspace].requested = 574'464;
    Op op;
    op.name = Step::kFirstOwnText;
    op.input_count = 2;
    op.first_output = 2;
    op.output_count = 1;
    step_.ops.push_back(op);
    Add(kImages, 0, {8, 3, 64, 64});
    Add(kWeight, 1, {64, 3, 7, 7});
    Add(kResult, 0, {8, 64, 32, 32});
    axis_.batch = 8;
    axis_.stride = {3 * 64 * 64, 0, 64 * 32 * 32, 1};
    axis_.second.resize(4);
  }

  // Of the work space with another batch.
  [[nodiscard]] uint64_t Bytes(int64_t batch) const {
    Scene scene;
    scene.blocks.push_back({1, 2, step_.blocks[kWorkspace].requested, kWorkspace});
    ScaleBatch(step_, axis_, batch, scene);
    return scene.blocks[0].bytes;
  }

  model::Run run_;
  Step step_;
  BatchAxis axis_;

  void Add(uint32_t block, uint16_t argument, const std::vector<int64_t>& sizes) {
    Operand operand;
    operand.block = block;
    operand.argument = argument;
    operand.dtype = kFloat;
    operand.shape = static_cast<uint32_t>(step_.shapes.size());
    step_.shapes.push_back(
        {static_cast<uint32_t>(step_.dims.size()), static_cast<uint32_t>(sizes.size()), true});
    step_.dims.insert(step_.dims.end(), sizes.begin(), sizes.end());
    step_.operands.push_back(operand);
  }
};

TEST_F(ConvolutionTest, TheCopyOfTheWeightDoesNotGrowWithTheBatch) {
  EXPECT_EQ(Bytes(8), 574'464u);
  EXPECT_EQ(Bytes(16), 1'098'752u);
}

// Of 8 and of 16 images in bfloat16, with channels in groups of 8 and the result converted too.
TEST_F(ConvolutionTest, TheCopyOfTheWeightIsInSixteenBitsWhereTheResultIs) {
  constexpr uint64_t kCopy = 64 * 8 * 7 * 7 * 2, kImage = (8 * 64 * 64 + 64 * 32 * 32) * 2;
  step_.blocks[kResult].requested = 8 * 64 * 32 * 32 * 2;
  step_.blocks[kWorkspace].requested = kCopy + 8 * kImage;
  EXPECT_EQ(Bytes(16), kCopy + 16 * kImage);
}

// convolution_backward(gradient, images, weight) works for the gradient of the images, then of the weight.
TEST_F(ConvolutionTest, TheGradientOfAWeightTakesNoCopyOfIt) {
  constexpr uint64_t kCopy = 64 * 4 * 7 * 7 * 4, kBoth = (8 * 4 * 64 * 64 + 8 * 64 * 32 * 32) * 4;
  step_.own_texts->front() = "aten::convolution_backward";
  step_.operands[0].argument = 1, step_.operands[1].argument = 2, step_.operands[2].argument = 0;
  step_.blocks.emplace_back().begin = 4;
  Add(kWorkspace + 1, 1, {64, 3, 7, 7});
  step_.ops[0].input_count = step_.ops[0].first_output = 3;
  for (const bool of_weight : {false, true}) {
    const uint64_t same = of_weight ? 0 : kCopy;
    step_.blocks[kWorkspace].requested = kBoth, step_.blocks[kWorkspace].begin = of_weight ? 5 : 3;
    EXPECT_EQ(Bytes(16), same + 2 * (kBoth - same));
  }
}

TEST_F(ConvolutionTest, WhatIsTooSmallForACopyOfTheWeightGrowsWhole) {
  step_.blocks[kWorkspace].requested = 4096;
  EXPECT_EQ(Bytes(16), 8192u);
}

// images ─ _efficient_attention_backward { empty } ─ done
// Backward lays its operands out anew with operators of their own, which return them.
TEST_F(ConvolutionTest, WhatAConvolutionCallsMakesTensorsThatGrowWhole) {
  step_.ops.push_back(step_.ops[0]);
  step_.own_texts->push_back("aten::clone");
  step_.ops[1].name = Step::kFirstOwnText + 1;
  step_.ops[1].parent = 0;
  step_.ops[1].input_count = step_.ops[1].output_count = 0;
  step_.blocks[kWorkspace].op = 1;
  EXPECT_EQ(Bytes(16), 2 * 574'464u);
}

TEST(AttentionScaleTest, TilesOfMemoryEfficientAttentionGrowWithTheWindowsOfTheBatch) {
  constexpr uint64_t kTwelve = 6'150 * 1024, kThree = kTwelve / 4;
  model::Run run;
  Step step;
  step.run = &run;
  step.own_texts = std::make_shared<std::deque<std::string>>(
      std::deque<std::string>{"aten::view", "aten::_efficient_attention_backward", "aten::empty"});
  step.shapes.push_back({});
  step.blocks.resize(2);
  step.blocks[0].category = classify::Category::kInput;
  step.blocks[1].begin = 4;
  step.blocks[1].end = 5;
  step.blocks[1].op = 2;
  step.blocks[1].requested = kTwelve;
  const auto add = [&](uint32_t op, uint32_t block, const std::vector<int64_t>& sizes,
                       const std::vector<int64_t>& strides) {
    const auto shape = [&](const std::vector<int64_t>& numbers) {
      step.shapes.push_back(
          {static_cast<uint32_t>(step.dims.size()), static_cast<uint32_t>(numbers.size()), true});
      step.dims.insert(step.dims.end(), numbers.begin(), numbers.end());
      return static_cast<uint32_t>(step.shapes.size() - 1);
    };
    Operand operand;
    operand.op = op;
    operand.block = block;
    operand.dtype = kFloat;
    operand.shape = shape(sizes);
    operand.strides = shape(strides);
    step.operands.push_back(operand);
  };
  add(0, 0, {12, 4, 16, 256}, {16384, 4096, 256, 1});
  add(1, 0, {48, 16, 8, 32}, {4096, 256, 32, 1});
  add(2, 1, {static_cast<int64_t>(kTwelve)}, {1});
  for (uint32_t i = 0; i < 3; ++i) {
    Op op;
    op.name = Step::kFirstOwnText + i;
    op.begin = i + 1;
    op.end = 9 - i;
    if (i == 2) op.parent = 1;
    (i == 2 ? op.output_count : op.input_count) = 1;
    op.first_input = op.first_output = i;
    step.ops.push_back(op);
  }
  step.op_ends = {2, 1, 0};
  const Result<BatchAxis>& axis = FollowBatch(step);
  ASSERT_TRUE(axis.ok());
  Scene scene;
  scene.blocks.push_back({4, 5, kTwelve, 1});
  ScaleBatch(step, *axis, 3, scene);
  EXPECT_EQ(scene.blocks[0].bytes, kThree);
}

// The oracle is what the simulated cuDNN, by the sizes that were published, asks for an LSTM of two layers of
// 256 with 12 and with 24 samples: 4,464,640 and 4,734,976 bytes.
TEST(RecurrentTest, TheMatricesInAWorkspaceDoNotGrowWithTheBatch) {
  Step step;
  step.shapes.push_back({});
  step.own_texts = std::make_shared<std::deque<std::string>>();
  for (const char* name : {"aten::_cudnn_rnn", "aten::empty"}) step.own_texts->emplace_back(name);
  step.blocks.resize(2);  // weights, workspace
  step.blocks[1].requested = 4'464'640;
  step.blocks[1].op = 1;
  step.ops.resize(2);
  step.ops[0].name = Step::kFirstOwnText, step.ops[1].name = Step::kFirstOwnText + 1;
  step.ops[1].parent = 0;
  const auto add = [&](Op& op, uint32_t& count, uint32_t block, uint16_t argument, uint8_t dtype,
                       const char* shape) {
    if (op.input_count + op.output_count == 0)
      op.first_input = op.first_output = static_cast<uint32_t>(step.operands.size());
    ++count;
    Operand& operand = step.operands.emplace_back();
    operand.block = block, operand.argument = argument, operand.dtype = dtype;
    operand.shape = static_cast<uint32_t>(step.shapes.size());
    step.shapes.push_back(ParseShape(shape, step.dims));
  };
  for (int i = 0; i < 4; ++i) add(step.ops[0], step.ops[0].input_count, 0, 1, kFloat, "1024,256");
  for (int i = 0; i < 4; ++i) add(step.ops[0], step.ops[0].input_count, 0, 1, kFloat, "1024");
  constexpr uint8_t kByte = 0;
  add(step.ops[1], step.ops[1].output_count, 1, 0, kByte, "4464640");
  EXPECT_EQ(MatricesInWorkspace(step, 1), 4u << 20);
  EXPECT_EQ(MatricesInWorkspace(step, 0), 0u);
  BatchAxis axis;
  axis.batch = 12;
  axis.stride = {0, 1};
  axis.second.resize(2);
  Scene scene;
  scene.blocks.push_back({1, 2, step.blocks[1].requested, 1});
  ScaleBatch(step, axis, 24, scene);
  EXPECT_EQ(scene.blocks[0].bytes, 4'734'976u);
}

// The recorded loop, with memory that its gelu asks for through aten::empty, and whether aten::sum reads it.
uint64_t StrideOfScratch(bool read) {
  const Loop loop;
  const whatif::Step recorded = loop.Read();
  uint32_t gelu = 0;
  while (recorded.NameOf(recorded.ops[gelu]) != "aten::gelu") ++gelu;
  Inserter inserter(recorded, {});
  const Position at = recorded.ops[gelu].begin + 0.1;
  StepBlock scratch = CopyOf(recorded, InputsOf(recorded, recorded.ops[gelu])[0].block);
  scratch.copy_of = model::kNone;
  scratch.requested = 2 * kBatchBytes * 8;
  scratch.begin = at + 0.1;
  scratch.end = at + 0.5;
  const uint32_t block = inserter.AddBlock(scratch);
  const uint32_t made = inserter.Begin("aten::empty", gelu, model::kNone, at, {});
  inserter.End(made, at + 0.2, {inserter.Matrix(block, 1, 8192)});
  if (read)
    inserter.End(inserter.Begin("aten::sum", gelu, model::kNone, at + 0.3, {inserter.Matrix(block, 1, 8192)}),
                 at + 0.4, {});
  whatif::Step step = std::move(inserter).Finish();
  for (uint32_t i = 0; i < step.ops.size(); ++i)
    if (step.NameOf(step.ops[i]) == "aten::empty") step.blocks[block].op = i;
  return FollowBatch(step)->stride[block];
}

TEST(BatchScaleTest, WhatAnOperatorAsksAFactoryForAndKeepsToItselfGrows) {
  EXPECT_NE(StrideOfScratch(false), 0u);
  EXPECT_EQ(StrideOfScratch(true), 0u) << "what another operator reads is decided by that";
}

//   aten::_cudnn_rnn (input [8, 16, 4], weight [64, 4], hx [1, 8, 16] of zeros) -> output, hy
TEST(BatchScaleTest, WhatARecurrentNetworkBeginsAndEndsWithHasTheBatchInTheMiddle) {
  constexpr uint32_t kInput = 0, kMatrix = 1, kBegins = 2, kOutput = 3, kEnds = 4;
  whatif::Step step;
  step.shapes.push_back({});
  step.own_texts = std::make_shared<std::deque<std::string>>(1, "aten::_cudnn_rnn");
  step.blocks.resize(5);
  step.blocks[kBegins].begin = 1;
  step.blocks[kOutput].begin = step.blocks[kEnds].begin = 3;
  step.blocks[kInput].category = classify::Category::kInput;
  Op& op = step.ops.emplace_back();
  op.name = Step::kFirstOwnText;
  op.begin = 2, op.end = 5;
  op.input_count = 3;
  op.first_output = 3, op.output_count = 2;
  step.op_ends = {0};
  const auto add = [&](uint32_t block, uint16_t argument, const char* shape, const char* strides) {
    AddTensor(step, 0, block, argument, shape, strides);
  };
  add(kInput, 0, "8,16,4", "64,4,1");
  add(kMatrix, 1, "64,4", "4,1");
  add(kBegins, 4, "1,8,16", "128,16,1");
  add(kOutput, 0, "8,16,16", "256,16,1");
  add(kEnds, 1, "1,8,16", "128,16,1");
  const BatchAxis axis = FollowBatch(step).value();
  EXPECT_EQ(axis.stride[kOutput], 256u);
  EXPECT_EQ(axis.stride[kBegins], 16u);
  EXPECT_EQ(axis.stride[kEnds], 16u);
  EXPECT_EQ(axis.stride[kMatrix], 0u);
}

// view ─ embedding_dense_backward { arange, CUB's own, rows }
TEST(BatchScaleTest, WhatIndicesAreSortedInGrowsAsTheyDo) {
  constexpr uint32_t kIndices = 0, kNumbers = 1, kSort = 2, kRows = 3;
  constexpr uint64_t kBytes = 8 * 32 * 32 * 4;
  model::Run run;
  Step step;
  step.run = &run;
  step.own_texts = std::make_shared<std::deque<std::string>>(
      std::deque<std::string>{"aten::view", "aten::embedding_dense_backward", "aten::arange"});
  step.shapes.push_back({});
  step.blocks.resize(4);
  step.blocks[kIndices].category = classify::Category::kInput;
  const auto made = [&](uint32_t block, uint32_t op, uint64_t bytes) {
    StepBlock& one = step.blocks[block];
    one.begin = 5, one.end = 6, one.op = op, one.requested = bytes;
  };
  made(kNumbers, 2, kBytes), made(kSort, 1, 2 * kBytes), made(kRows, 2, kBytes + 512);
  AddTensor(step, 0, kIndices, 0, "8,32,32", "1024,32,1");
  AddTensor(step, 1, kIndices, 0, "8,32,32", "1024,32,1");
  AddTensor(step, 1, kIndices, 1, "8,32,32", "1024,32,1");
  for (uint32_t i = 0; i < 3; ++i) {
    Op& op = step.ops.emplace_back();
    op.name = Step::kFirstOwnText + i;
    op.begin = 1 + i, op.end = i == 0 ? 1.5 : 9 - i;
    op.first_input = i, op.input_count = i == 1 ? 2 : 1 - i / 2;
    if (i == 2) op.parent = 1;
  }
  step.op_ends = {0, 2, 1};
  const BatchAxis axis = FollowBatch(step).value();
  EXPECT_EQ(axis.stride, (std::vector<uint64_t>{1024, 1024, 1024, 0}));
}

TEST(BatchScaleTest, WhatIsSortedGrowsAndItsCountsOfDigitsStay) {
  constexpr uint64_t kItems = 73'728;
  Step step;
  step.own_texts = std::make_shared<std::deque<std::string>>(1, "aten::sort");
  step.blocks.resize(2);
  step.blocks[1].op = 0;
  step.shapes = {{}, ParseShape("73728", step.dims)};
  step.ops.push_back({.name = Step::kFirstOwnText, .output_count = 1});
  step.operands.emplace_back();
  step.operands[0].block = 0, step.operands[0].shape = 1;
  BatchAxis axis;
  axis.batch = 8;
  axis.stride = {kItems / 8, kItems / 8};
  axis.second.resize(2);
  const auto doubled = [&](uint64_t recorded) {
    step.blocks[1].requested = recorded;
    Scene scene;
    scene.blocks.push_back({1, 2, recorded, 1});
    ScaleBatch(step, axis, 16, scene);
    return scene.blocks[0].bytes;
  };
  EXPECT_EQ(doubled(OneSweepSortBytes(kItems)), OneSweepSortBytes(2 * kItems));
  EXPECT_EQ(doubled(ManySweepSortBytes(kItems, 108)), ManySweepSortBytes(2 * kItems, 108));
}

// cat([t, t.new_zeros(1)]) of 8 samples, what a layer makes of it, a copy of that, and what stands before or
// behind.
class JoinedRowsTest : public testing::Test {
 protected:
  // In elements, with so many samples.
  [[nodiscard]] std::vector<uint64_t> Elements(const char* maker, int64_t more, int64_t wanted) {
    const whatif::Step bare = BareStep(&run_);
    Inserter into(bare, {});
    StepBlock input;
    input.category = classify::Category::kInput;
    (void)into.AddBlock(input);
    Position at = 0;
    const auto call = [&](const char* name, const std::vector<std::pair<uint32_t, View>>& given,
                          const View& made) {
      StepBlock result;
      result.begin = at + 1.5, result.op = static_cast<uint32_t>(into.step().ops.size());
      result.requested = static_cast<uint64_t>(made.shape.front() * made.strides.front()) * 4;
      const uint32_t block = into.AddBlock(result);
      std::vector<Operand> operands;
      for (const auto& [of, view] : given) operands.push_back(Viewed(into, of, view, kFloat));
      const uint32_t op = into.Begin(name, model::kNone, model::kNone, ++at, operands);
      into.End(op, ++at, {Viewed(into, block, made, kFloat)});
      return block;
    };
    const View times{{8}, {1}}, zeros{{more}, {1}};
    const int64_t rows = 8 + more;
    const uint32_t other = call(maker, {{0, times}}, zeros);
    const uint32_t joined = call("aten::cat", {{0, times}, {other, zeros}}, {{rows}, {1}});
    const uint32_t made = call("aten::mul", {{joined, {{rows, 1}, {1, 1}}}}, {{rows, 4}, {4, 1}});
    const uint32_t before = call("aten::clone", {{made, {{8, 4}, {4, 1}}}}, {{8, 4}, {4, 1}});
    const uint32_t others = call("aten::clone", {{joined, {{more}, {1}, 8}}}, zeros);
    StepBlock copy = into.step().blocks[made];
    copy.copy_of = made;
    const uint32_t copied = into.AddBlock(copy);
    const whatif::Step step = std::move(into).Finish();
    Scene scene;
    for (const uint32_t block : {joined, made, copied, before, others})
      scene.blocks.push_back({1, 2, step.blocks[block].requested, block});
    ScaleBatch(step, FollowBatch(step).value(), wanted, scene);
    std::vector<uint64_t> elements;
    for (const Block& block : scene.blocks) elements.push_back(block.bytes / 4);
    return elements;
  }

  using Sizes = std::vector<uint64_t>;
  model::Run run_;
};

TEST_F(JoinedRowsTest, RowsThatAreMadeForAllSamplesTogetherAreAsManyWithOthers) {
  EXPECT_EQ(Elements("aten::new_zeros", 1, 2), (Sizes{3, 12, 12, 8, 1}));
  EXPECT_EQ(Elements("aten::new_zeros", 3, 16), (Sizes{19, 76, 76, 64, 3}));
}

TEST_F(JoinedRowsTest, AsManyOfThemAsThereAreSamplesMayBeOfThese) {
  EXPECT_EQ(Elements("aten::new_zeros", 8, 16)[1], 128);
}

TEST_F(JoinedRowsTest, WhatIsPickedFromTheBatchMayBeMoreWithMore) {
  EXPECT_EQ(Elements("aten::masked_select", 4, 16)[1], 96);
}

}  // namespace
}  // namespace vramscope::whatif
