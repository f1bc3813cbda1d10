// SPDX-License-Identifier: Apache-2.0
// Where the tokens are in what backward makes of a part's gradient, or spreads it over: as in what forward
// was given (select_backward, slice_backward and MeanBackward0 in torch/csrc/autograd/FunctionsManual.cpp).
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <memory>
#include <string>

#include "profiler/whatif/sizes/carried_axis.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// x.select(1, 0), or a slice of x, and what its node puts the gradient into, in zeros like x: elements from
// one token to the next in there.
PlacesOfAxis OfGradient(const char* name, const View& whole, std::array<uint64_t, 2> tokens,
                        const View& gradient, bool of_view = true, const char* forward = "aten::select") {
  whatif::Step step;
  step.shapes.push_back({});
  step.own_texts = std::make_shared<std::deque<std::string>>(std::deque<std::string>{forward, name});
  step.blocks.resize(2);
  step.nodes.emplace_back().op = of_view ? 0 : kNone;
  const auto shape = [&](const std::vector<int64_t>& dims) {
    if (dims.empty()) return 0u;
    step.shapes.push_back(
        {static_cast<uint32_t>(step.dims.size()), static_cast<uint32_t>(dims.size()), true});
    step.dims.insert(step.dims.end(), dims.begin(), dims.end());
    return static_cast<uint32_t>(step.shapes.size() - 1);
  };
  for (const uint32_t block : {0u, 1u}) {
    const View& view = block == 0 ? whole : gradient;
    Operand& operand = step.operands.emplace_back();
    operand.op = operand.block = block, operand.dtype = kFloat;
    operand.shape = shape(view.shape), operand.strides = shape(view.strides);
    Op& op = step.ops.emplace_back();
    op.name = Step::kFirstOwnText + block;
    op.first_input = op.first_output = block;
    (block == 0 ? op.input_count : op.output_count) = 1;
  }
  step.ops[1].node = 0;
  BatchAxis axis;
  axis.stride = {tokens[0], 0}, axis.second = {tokens[1], 0};
  return PlacesOfWhole(step, axis, step.ops[1], step.operands[1]);
}

TEST(PlacesOfWholeTest, AGradientHasTheTokensThatWhatWasCutHas) {
  const View whole{{3, 32, 8}, {256, 8, 1}}, across{{3, 32, 8}, {8, 24, 1}};
  for (const char* const name : {"aten::select_backward", "aten::slice_backward", "aten::diagonal_backward",
                                 "aten::value_selecting_reduction_backward"}) {
    EXPECT_EQ(OfGradient(name, whole, {8, 0}, whole), (PlacesOfAxis{8, 0}));
    EXPECT_EQ(OfGradient(name, whole, {8, 0}, across), (PlacesOfAxis{24, 0})) << "in its own layout";
    EXPECT_EQ(OfGradient(name, across, {24, 0}, whole), (PlacesOfAxis{8, 0}));
  }
  EXPECT_EQ(OfGradient("aten::mul", whole, {8, 0}, whole), PlacesOfAxis{});
}

TEST(PlacesOfWholeTest, AGradientThatIsSpreadHasThoseOfWhatAMeanIsOf) {
  const View whole{{3, 31, 8}, {256, 8, 1}}, spread{{3, 31, 8}, {248, 8, 1}};
  EXPECT_EQ(OfGradient("aten::div", whole, {8, 0}, spread, true, "aten::mean"), (PlacesOfAxis{8, 0}));
  EXPECT_EQ(OfGradient("aten::div", whole, {8, 0}, spread, true, "aten::div"), PlacesOfAxis{});
}

// x[numbers of the CPU]
TEST(PlacesOfWholeTest, AGradientOfRowsThatArePickedHasThoseOfAllRows) {
  const View whole{{64, 8}, {8, 1}};
  EXPECT_EQ(OfGradient("aten::new_zeros", whole, {8, 0}, whole, true, "aten::index"), (PlacesOfAxis{8, 0}));
  EXPECT_EQ(OfGradient("aten::new_zeros", whole, {8, 0}, whole, true, "aten::mul"), PlacesOfAxis{});
}

TEST(PlacesOfWholeTest, InBothDirections) {
  const View pairs{{3, 32, 32}, {1024, 32, 1}};
  EXPECT_EQ(OfGradient("aten::select_backward", pairs, {32, 1}, pairs), (PlacesOfAxis{32, 1}));
}

TEST(PlacesOfWholeTest, OrNone) {
  const View whole{{3, 32, 8}, {256, 8, 1}}, part{{3, 8}, {8, 1}};
  const char* const name = "aten::select_backward";
  EXPECT_EQ(OfGradient(name, whole, {0, 0}, whole), PlacesOfAxis{}) << "it has no tokens";
  EXPECT_EQ(OfGradient(name, whole, {8, 0}, part), PlacesOfAxis{}) << "it is of something else";
  EXPECT_EQ(OfGradient(name, whole, {8, 0}, {{3, 32, 8}, {}}), PlacesOfAxis{}) << "its strides are not known";
  EXPECT_EQ(OfGradient(name, whole, {8, 0}, whole, false), PlacesOfAxis{}) << "nor is what was cut";
}

}  // namespace
}  // namespace vramscope::whatif
