// SPDX-License-Identifier: Apache-2.0
// A recorded step that a test writes itself. Forward is from position 0 to 100, backward from 100 to 200.
// Blocks have 512 bytes. Nodes save the inputs of their operators.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class WrittenStep {
 public:
  WrittenStep() {
    run_.streams.push_back(0);
    step_.run = &run_;
    step_.length = 300;
    step_.own_texts = std::make_shared<std::deque<std::string>>();
    step_.shapes.push_back({});
    step_.backward.push_back({100, 200});
  }
  WrittenStep(const WrittenStep&) = delete;  // the step points to its run
  WrittenStep& operator=(const WrittenStep&) = delete;

  uint32_t Text(const std::string& text) {
    step_.own_texts->push_back(text);
    return Step::kFirstOwnText + static_cast<uint32_t>(step_.own_texts->size() - 1);
  }
  void Module(const std::string& path, Position begin, Position end, CallIndex parent = {}) {
    step_.modules.push_back({Text(path), parent, begin, end});
  }
  // Stores sizes or strides. Returns the index that an operand refers to.
  uint32_t Shaped(const std::vector<int64_t>& dims) {
    step_.shapes.push_back(
        {static_cast<uint32_t>(step_.dims.size()), static_cast<uint32_t>(dims.size()), true});
    step_.dims.insert(step_.dims.end(), dims.begin(), dims.end());
    return static_cast<uint32_t>(step_.shapes.size() - 1);
  }
  BlockIndex AddBlock(Position begin, Position end) {
    StepBlock block;
    block.id = model::kNone;
    block.requested = 512;
    block.begin = begin;
    block.end = end;
    step_.blocks.push_back(block);
    return BlockIndex(step_.blocks.size() - 1);
  }
  NodeIndex Node(Position begin) {
    step_.nodes.push_back({Text("node"), {}, kBefore, begin, begin + 2});
    return NodeIndex(step_.nodes.size() - 1);
  }
  // Adds an operator. The following calls add its operands.
  OpIndex Call(const char* name, OpIndex parent, Position begin, Position end) {
    Op op;
    op.name = Text(name), op.parent = parent, op.begin = begin, op.end = end;
    op.first_input = op.first_output = static_cast<uint32_t>(step_.operands.size());
    step_.ops.push_back(op);
    return OpIndex(step_.ops.size() - 1);
  }
  // Adds an operator that reads the first block, creates the second one, and saves the first.
  void Work(Position at, NodeIndex node, const std::vector<BlockIndex>& blocks) {
    Op op;
    op.name = Text("work");
    op.begin = at;
    op.end = at + 2;
    op.first_input = static_cast<uint32_t>(step_.operands.size());
    op.input_count = 1;
    op.first_output = op.first_input + 1;
    op.output_count = 1;
    for (const BlockIndex block : blocks) {
      Operand operand;
      operand.op = step_.ops.Next();
      operand.block = block;
      if (block == blocks.back()) operand.flags = trace::kTensorIsOutput;
      step_.operands.push_back(operand);
    }
    step_.ops.push_back(op);
    Saved saved;
    saved.block = blocks.front();
    saved.node = node;
    saved.at = at;
    saved.released = HooksAfter(step_.nodes[node].begin + 1, 50);
    step_.saved.push_back(saved);
  }

  model::Run run_;
  Step step_;
};

}  // namespace vramscope::whatif
