// SPDX-License-Identifier: Apache-2.0
// For tests: a whatif::Step that a test builds from single operators and nodes. Operators have PyTorch's
// names. Tensors are float32 and have 128 elements: 512 bytes, or 256 bytes with a 16-bit type.
#pragma once

#include <string>
#include <vector>

#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {

inline constexpr uint8_t kFloatElements = 6;  // c10::ScalarType

class WrittenOperators : public WrittenStep {
 public:
  WrittenOperators() {
    step_.torch_version = "2.15.0";
    step_.shapes = {{}, {0, 1, true}};
    step_.dims = {128};
  }

  // Adds a node that is created in the middle of operator `op`, and that runs in backward from `begin` on.
  NodeIndex AddNode(const std::string& name, OpIndex op, Position begin) {
    const NodeIndex node = Node(begin);
    step_.nodes[node] = {Name(name), op, HooksAfter(step_.ops[op].begin, 50), begin, begin + 4};
    return node;
  }
  OpIndex AddOp(const std::string& name, NodeIndex node, Window time, const std::vector<BlockIndex>& from,
                BlockIndex to) {
    Op op;
    op.name = Name(name), op.node = node;
    op.begin = time.begin, op.end = time.end;
    op.first_input = static_cast<uint32_t>(step_.operands.size());
    op.input_count = static_cast<uint32_t>(from.size());
    op.first_output = op.first_input + op.input_count;
    op.output_count = to == model::kNone ? 0 : 1;
    std::vector<BlockIndex> blocks = from;
    if (to != model::kNone) blocks.push_back(to);
    for (size_t i = 0; i < blocks.size(); ++i) {
      Operand operand;
      operand.op = step_.ops.Next();
      operand.block = blocks[i];
      operand.shape = 1, operand.dtype = kFloatElements;
      if (i >= from.size()) operand.flags = trace::kTensorIsOutput;
      step_.operands.push_back(operand);
    }
    step_.ops.push_back(op);
    if (to != model::kNone && step_.blocks[to].begin > op.begin)
      step_.blocks[to].op = OpIndex(step_.ops.size() - 1);
    return OpIndex(step_.ops.size() - 1);
  }

 private:
  uint32_t Name(const std::string& name) {
    for (uint32_t i = 0; i < step_.own_texts->size(); ++i)
      if ((*step_.own_texts)[i] == name) return Step::kFirstOwnText + i;
    return Text(name);
  }
};

}  // namespace vramscope::whatif
