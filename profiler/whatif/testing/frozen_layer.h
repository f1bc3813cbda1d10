// SPDX-License-Identifier: Apache-2.0
// A step with one layer, put together by hand, of which parameters are frozen one at a time.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "profiler/whatif/testing/written_step.h"
#include "profiler/whatif/training/freeze.h"

namespace vramscope::whatif {

// attend(query) + bias: backward of attention makes the gradient of the query with a scratch block of its
// own and a copy without gaps of what it is given, and the node adds up the gradient of the bias.
class FreezeBackwardTest : public testing::Test, protected WrittenStep {
 protected:
  FreezeBackwardTest() {
    step_.optimizer.push_back({200, 300});
    query_ = Add("query", kBefore, kForever);
    bias_ = Add("bias", kBefore, kForever);
    step_.trained = {query_, bias_};
    folded_ = Add("", 5, 8);
    out_ = Add("", 11, 190);
    of_query_ = Gradient("query", 113, 150);
    scratch_ = Add("", 114, 120);
    packed_ = Add("", 118.5, 121);
    of_bias_ = Gradient("bias", 125, 152);
    const uint32_t attend = AddOp("attend", model::kNone, model::kNone, {10, 12}, {query_, bias_}, {out_});
    step_.nodes.push_back({Text("AttendBackward"), attend, 11, 110, 130});
    step_.nodes.push_back({Text("AccumulateGrad"), model::kNone, kBefore, 150, 153});
    const uint32_t work = AddOp("AttendBackward", model::kNone, 0, {110, 129}, {out_}, {});
    const uint32_t kernel = AddOp("aten::attend_backward", work, 0, {112, 121}, {out_}, {of_query_});
    const uint32_t scratch_op = AddOp("aten::empty", kernel, 0, {113.5, 115}, {}, {scratch_});
    (void)AddOp("aten::zero_", kernel, 0, {116, 117}, {scratch_}, {scratch_});
    const uint32_t packing = AddOp("aten::to", kernel, 0, {118, 120}, {out_}, {packed_});
    step_.blocks[packed_].op = AddOp("aten::_to_copy", packing, 0, {118.2, 119.5}, {out_}, {packed_});
    step_.blocks[scratch_].op = scratch_op;
    step_.blocks[of_query_].op = kernel;
    step_.blocks[of_bias_].op = AddOp("aten::sum", work, 0, {124, 126}, {out_}, {of_bias_});
    (void)AddOp("AccumulateGrad", model::kNone, 1, {150, 151}, {of_query_}, {});
    (void)AddOp("AccumulateGrad", model::kNone, 1, {152, 153}, {of_bias_}, {});
    const uint32_t product = AddOp("aten::matmul", model::kNone, model::kNone, {3, 9}, {query_, bias_}, {});
    const uint32_t reshape = AddOp("aten::reshape", product, model::kNone, {4, 7}, {query_}, {folded_});
    step_.blocks[folded_].op = AddOp("aten::clone", reshape, model::kNone, {4.5, 6}, {query_}, {folded_});
    SortEnds();
  }

  void SortEnds() {
    for (auto op = static_cast<uint32_t>(step_.op_ends.size()); op < step_.ops.size(); ++op)
      step_.op_ends.push_back(op);
    std::stable_sort(step_.op_ends.begin(), step_.op_ends.end(),
                     [&](uint32_t a, uint32_t b) { return step_.ops[a].end < step_.ops[b].end; });
  }

  [[nodiscard]] Step WithFrozen(uint32_t frozen) const {
    return Frozen(step_, [&](uint32_t parameter) { return parameter == frozen; });
  }

  uint32_t Add(std::string_view name, Position begin, Position end) {
    const uint32_t block = AddBlock(begin, end);
    step_.blocks[block].name = name;
    return block;
  }
  uint32_t Gradient(std::string_view name, Position begin, Position accumulated) {
    const uint32_t block = Add(name, begin, 299);
    step_.blocks[block].accumulated = accumulated;
    return block;
  }
  uint32_t AddOp(const std::string& name, uint32_t parent, uint32_t node, Window window,
                 const std::vector<uint32_t>& inputs, const std::vector<uint32_t>& outputs) {
    const auto index = static_cast<uint32_t>(step_.ops.size());
    Op op;
    op.name = Text(name);
    op.parent = parent;
    op.node = node;
    op.begin = window.begin;
    op.end = window.end;
    op.first_input = static_cast<uint32_t>(step_.operands.size());
    op.input_count = static_cast<uint32_t>(inputs.size());
    for (const uint32_t block : inputs) AddOperand(index, block, trace::kTensorRequiresGrad);
    op.first_output = static_cast<uint32_t>(step_.operands.size());
    op.output_count = static_cast<uint32_t>(outputs.size());
    for (const uint32_t block : outputs) AddOperand(index, block, trace::kTensorIsOutput);
    step_.ops.push_back(op);
    return index;
  }
  void AddOperand(uint32_t op, uint32_t block, uint64_t flags) {
    Operand operand;
    operand.op = op;
    operand.block = block;
    operand.flags = static_cast<uint8_t>(flags);
    step_.operands.push_back(operand);
  }

  uint32_t query_, bias_, folded_, out_, of_query_, scratch_, packed_, of_bias_;
};

}  // namespace vramscope::whatif
