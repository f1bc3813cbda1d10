// SPDX-License-Identifier: Apache-2.0
// The parameters that an optimizer steps. Oracle: shapes of real layers.
#include "profiler/whatif/training/trained.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vramscope::whatif {
namespace {

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
    step.own_texts = std::make_shared<std::deque<std::string>>(1, "aten::convolution");
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
  lstm.step.blocks[0].requested /= 2;  // as --shard fsdp:2 leaves it
  EXPECT_THAT(lstm.Bytes(), ElementsAre(1152));
}

TEST(TrainedParametersTest, APartOfAParameterIsNone) {
  OneBlock joined(4 * 24 * 8);
  joined.Given(0, "24,8", "8,1").Given(64, "8,8", "8,1", trace::kTensorRequiresGrad);
  EXPECT_THAT(joined.Bytes(), ElementsAre(768));
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

}  // namespace
}  // namespace vramscope::whatif
