// SPDX-License-Identifier: Apache-2.0
// What cuDNN takes to work with in 16 bits. The oracle is what PyTorch asked for in the backward of a U-Net's
// last convolution, [8, 24, 48, 48] to three channels: 2,064,768 bytes in float32 and 1,180,032 in bfloat16.
#include <gtest/gtest.h>

#include "profiler/whatif/precision.h"

namespace vramscope::whatif {
namespace {

constexpr uint8_t kFloat = 6;  // c10::ScalarType
constexpr uint32_t kGradient = 0, kInput = 1, kWeight = 2, kResult = 3, kWorkspace = 4;

TEST(PrecisionKernelsTest, BackwardOfAConvolutionFillsChannelsUpToVectors) {
  Step step;
  step.shapes.push_back({});
  step.own_texts = std::make_shared<std::deque<std::string>>(1, "aten::convolution_backward");
  step.blocks.resize(5);
  step.blocks[kWorkspace].op = 0;
  step.blocks[kWorkspace].requested = 2'064'768;
  Op& op = step.ops.emplace_back();
  op.name = Step::kFirstOwnText;
  op.input_count = 3;
  op.first_output = 3;
  op.output_count = 1;
  const auto shaped = [&](const char* text) {
    step.shapes.push_back(ParseShape(text, step.dims));
    return static_cast<uint32_t>(step.shapes.size()) - 1;
  };
  const auto add = [&](uint32_t block, uint16_t argument, const char* shape, const char* strides) {
    Operand& operand = step.operands.emplace_back();
    operand.block = block, operand.argument = argument, operand.dtype = kFloat;
    operand.shape = shaped(shape), operand.strides = shaped(strides);
  };
  add(kGradient, 0, "8,3,48,48", "6912,2304,48,1");
  add(kInput, 1, "8,24,48,48", "55296,2304,48,1");
  add(kWeight, 2, "3,24,1,1", "24,1,1,1");
  add(kResult, 0, "8,24,48,48", "55296,2304,48,1");
  Step changed = step;
  ChangeKernels(step, {true, true, true, true, false}, changed);
  EXPECT_EQ(changed.blocks[kWorkspace].requested, 1'180'032u);
}

}  // namespace
}  // namespace vramscope::whatif
