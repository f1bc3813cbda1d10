// SPDX-License-Identifier: Apache-2.0
// What an optimizer steps, and what it needs for cuBLAS. Oracles: shapes of real layers, and what
// torch/optim/_adafactor.py computes for them.
#include "profiler/whatif/training/trained.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/step/cublas.h"
#include "profiler/whatif/training/lean_optimizers.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using testing::ElementsAre;

constexpr uint8_t kParameter = trace::kTensorIsLeaf | trace::kTensorRequiresGrad;
constexpr uint8_t kFloat32 = 6;

// One trained block, and the tensors in it that operators received.
class OneBlock {
 public:
  explicit OneBlock(uint64_t bytes) {
    step.shapes.push_back({});
    step.blocks.emplace_back().requested = bytes;
    step.trained.push_back(0);
    step.ops.emplace_back().name = Step::kFirstOwnText;
    Forward("aten::convolution");
  }
  OneBlock& Forward(const char* op) {
    step.own_texts = std::make_shared<std::deque<std::string>>(1, op);
    return *this;
  }

  OneBlock& Given(uint64_t offset, const char* shape, const char* strides, uint8_t flags = kParameter) {
    Operand operand;
    operand.block = 0;
    operand.offset = offset;
    operand.shape = Shaped(shape);
    operand.strides = Shaped(strides);
    operand.dtype = kFloat32;
    operand.flags = flags;
    step.operands.push_back(operand);
    return *this;
  }

  [[nodiscard]] std::vector<uint64_t> Bytes() const {
    std::vector<uint64_t> bytes;
    for (const TrainedParameter& parameter : TrainedParameters(step)) bytes.push_back(parameter.bytes);
    return bytes;
  }
  // Adafactor's state, or its temporaries.
  [[nodiscard]] std::vector<uint64_t> Adafactor(bool foreach_way, bool state) const {
    Scene scene;
    const std::vector<OptimizerCall> calls = OptimizerCalls(step, {{100, 200}}).value();
    EXPECT_TRUE(AddAdafactor(step, calls, foreach_way, scene).ok());
    std::vector<uint64_t> bytes;
    for (const Block& block : scene.blocks)
      if ((block.end >= kForever) == state) bytes.push_back(block.bytes);
    return bytes;
  }

  Step step;

 private:
  uint32_t Shaped(const char* text) {
    step.shapes.push_back(ParseShape(text, step.dims));
    return static_cast<uint32_t>(step.shapes.size()) - 1;
  }
};

TEST(TrainedParametersTest, LeavesOfOneBlockAreParametersOfTheirOwn) {
  // An LSTM of width 8: cuDNN reads the whole block, which is not a parameter.
  OneBlock lstm(4 * (2 * 32 * 8 + 2 * 32));
  lstm.Given(0, "32,8", "8,1").Given(256, "32,8", "8,1").Given(512, "32", "1").Given(544, "32", "1");
  lstm.Given(0, "576", "1", trace::kTensorIsLeaf).Given(0, "32,8", "8,1");
  EXPECT_THAT(lstm.Bytes(), ElementsAre(1024, 1024, 128, 128));
  lstm.step.blocks[0].requested /= 2;  // as --precision leaves it
  EXPECT_THAT(lstm.Bytes(), ElementsAre(512, 512, 64, 64));
}

TEST(TrainedParametersTest, APartOfAParameterIsNone) {
  OneBlock joined(4 * 24 * 8);
  joined.Given(0, "24,8", "8,1").Given(64, "8,8", "8,1", trace::kTensorRequiresGrad);
  EXPECT_THAT(joined.Bytes(), ElementsAre(768));
}

TEST(AdafactorTest, RowsAndColumnsOfAConvolutionAreThoseOfItsKernels) {
  // [16, 8, 3, 3]: 3 rows and 3 columns in each of 128 kernels.
  OneBlock convolution(4 * 16 * 8 * 9);
  convolution.Given(0, "16,8,3,3", "72,9,3,1").Forward("aten::mm");  // it took no workspace
  EXPECT_THAT(convolution.Adafactor(false, true), ElementsAre(1536, 1536));
  // One mean per kernel while its estimate is divided by it, then the rows', the columns', the update.
  EXPECT_THAT(convolution.Adafactor(false, false), ElementsAre(512, 1536, 1536, 4608));
  EXPECT_THAT(convolution.Adafactor(true, false), ElementsAre(1536, 1536, 512, 4608));
}

// A matrix of 512 bytes and, allocated after it, a vector of 96 bytes. The recorded optimizer steps them in
// an order of its own.
OneBlock MatrixAndVector(bool vector_first) {
  OneBlock model(4 * 16 * 8);
  model.Given(0, "16,8", "8,1");
  model.step.blocks.push_back(model.step.blocks[0]);
  model.step.blocks[1].requested = 96;
  model.step.trained.push_back(1);
  model.Given(0, "24", "1");
  model.step.operands.back().block = 1;
  model.step.torch_version = "2.6.0+cu124";
  Op& op = model.step.ops.emplace_back();
  op.name = Step::kFirstOwnText;
  op.begin = 110, op.end = 120;
  op.first_input = 2, op.input_count = 2;
  model.Given(0, "24", "1").Given(0, "16,8", "8,1");
  model.step.operands[vector_first ? 2 : 3].block = 1;
  model.step.optimizer = {{100, 200}};
  return model;
}

std::vector<uint64_t> Stepped(const OneBlock& model) {
  std::vector<uint64_t> bytes;
  const std::vector<OptimizerCall> calls = OptimizerCalls(model.step, model.step.optimizer).value();
  for (const TrainedParameter& one : calls.front().stepped) bytes.push_back(one.bytes);
  return bytes;
}

TEST(OptimizerCallsTest, ParametersAreSteppedInTheOrderOfTheProgramsList) {
  EXPECT_THAT(Stepped(MatrixAndVector(false)), ElementsAre(512, 96));
  EXPECT_THAT(Stepped(MatrixAndVector(true)), ElementsAre(96, 512));
}

TEST(OptimizerCallsTest, WhereOneWasNotSeenTheyStayAsTheyWereAllocated) {
  OneBlock model = MatrixAndVector(true);
  model.step.ops.back().input_count = 1;
  EXPECT_THAT(Stepped(model), ElementsAre(512, 96));
}

std::vector<uint64_t> Estimates(bool vector_first) {
  std::vector<uint64_t> bytes = MatrixAndVector(vector_first).Adafactor(true, false);
  std::erase_if(bytes, [](uint64_t one) { return one != 512 && one != 96; });
  return bytes;
}

TEST(AdafactorTest, ForeachBeginsWithWhatTheProgramsListBeginsWith) {
  EXPECT_EQ(Estimates(false).front(), 512u);
  EXPECT_EQ(Estimates(true).front(), 96u);
}

TEST(AdafactorTest, ItsProductsTakeAWorkspaceWhereTheModelHasNone) {
  OneBlock convolution(4 * 16 * 8 * 9);
  convolution.Given(0, "16,8,3,3", "72,9,3,1");
  convolution.step.torch_version = "2.15.0+cu132";
  EXPECT_THAT(convolution.Adafactor(false, false), testing::Contains(kCublas));
  convolution.step.torch_version = "2.6.0+cu124";
  EXPECT_THAT(convolution.Adafactor(false, false), testing::Not(testing::Contains(kCublas)));
  EXPECT_THAT(convolution.Adafactor(false, true), ElementsAre(1536, 1536, kCublas));
}

TEST(AdafactorTest, TritonsProductsOfBatchesTakeNoWorkspace) {
  OneBlock convolution(4 * 16 * 8 * 9), linear(4 * 16 * 8);
  convolution.Given(0, "16,8,3,3", "72,9,3,1");
  linear.Given(0, "16,8", "8,1");
  for (OneBlock* const model : {&convolution, &linear}) {
    model->step.torch_version = "2.15.0+cu132";
    model->step.triton_ops = "bmm,topk";
  }
  EXPECT_THAT(convolution.Adafactor(false, false), testing::Not(testing::Contains(kCublas)));
  EXPECT_THAT(convolution.Adafactor(true, false), testing::Not(testing::Contains(kCublas)));
  EXPECT_THAT(linear.Adafactor(false, false), testing::Contains(kCublas));  // aten::mm is PyTorch's own
  convolution.step.triton_ops = "baddbmm,bmm_dtype";
  EXPECT_THAT(convolution.Adafactor(false, false), testing::Contains(kCublas));
}

}  // namespace
}  // namespace vramscope::whatif
