// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/insert.h"

#include <numeric>

namespace vramscope::whatif {

using model::kNone;

uint32_t TextOf(Step& step, std::string_view text) {
  if (step.own_texts == nullptr) step.own_texts = std::make_shared<std::deque<std::string>>();
  std::deque<std::string>& texts = *step.own_texts;
  const auto found = std::find(texts.begin(), texts.end(), text);
  const auto place = static_cast<uint32_t>(found - texts.begin());
  if (found == texts.end()) texts.emplace_back(text);
  return Step::kFirstOwnText + place;
}

void OrderOpEnds(Step& step) {
  step.op_ends.clear();
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    if (step.ops[i].end < kForever) step.op_ends.push_back(i);
  }
  std::stable_sort(step.op_ends.begin(), step.op_ends.end(),
                   [&](uint32_t a, uint32_t b) { return step.ops[a].end < step.ops[b].end; });
}

Position SeenAt(const Step& step, uint32_t operand) {
  const Op& op = step.ops[step.operands[operand].op];
  const bool result = operand >= op.first_output && operand - op.first_output < op.output_count;
  return result ? op.end : op.begin;
}

void SeenAs(Step& step, uint32_t block, uint32_t op, uint32_t made) {
  for (uint32_t i = 0; i < step.operands.size(); ++i) {
    uint32_t& seen = step.operands[i].block;
    if (seen == block && SeenAt(step, i) > step.ops[op].begin) seen = made;
  }
}

Inserter::Inserter(const Step& step, std::vector<Position> behind)
    : step_(step), behind_(std::move(behind)), length_(step.length) {
  std::sort(behind_.begin(), behind_.end());
  behind_.erase(std::unique(behind_.begin(), behind_.end()), behind_.end());
  const auto move = [&](Position& at) { at = Moved(at); };
  for (StepBlock& block : step_.blocks) {
    for (Position* at : {&block.begin, &block.end, &block.accumulated, &block.last_use, &block.replaced})
      move(*at);
  }
  for (Op& op : step_.ops) move(op.begin), move(op.end), move(op.named), move(op.left);
  for (Named& named : step_.named) move(named.until), move(named.unconverted);
  for (NamedSince& named : step_.named_since) move(named.since), move(named.until);
  for (Node& node : step_.nodes) move(node.made), move(node.begin), move(node.end);
  for (Saved& saved : step_.saved) move(saved.at), move(saved.released);
  for (auto* facts : {&step_.half_only, &step_.to_parameter})
    for (TypeBranch& fact : *facts) move(fact.at);
  for (ModuleCall& call : step_.modules) move(call.begin), move(call.end), move(call.holds);
  for (auto* windows : {&step_.backward, &step_.optimizer, &step_.zero_grad, &step_.autocast,
                        &step_.autocast_off, &step_.inserted})
    for (Window& window : *windows) move(window.begin), move(window.end);
  for (auto* places : {&step_.autocast_cleared, &step_.cache_emptied})
    for (Position& at : *places) move(at);
  move(step_.length);
  for (const Position at : behind_) {
    const Position begin = Moved(at);
    step_.inserted.push_back({begin, begin + kRoom});
  }
  std::sort(step_.inserted.begin(), step_.inserted.end(),
            [](const Window& a, const Window& b) { return a.begin < b.begin; });
}

Position Inserter::Moved(Position recorded) const {
  if (recorded == kBefore || recorded >= kForever) return recorded;
  if (0 < length_ && length_ < recorded)  // in the next step
    return Moved(length_) + Moved(recorded - length_);
  const auto rooms = std::lower_bound(behind_.begin(), behind_.end(), recorded) - behind_.begin();
  return recorded + kRoom * static_cast<Position>(rooms);
}

Room Inserter::RoomBehind(Position recorded) const { return Room(Moved(recorded) + 1); }

uint32_t Inserter::Text(std::string_view text) { return TextOf(step_, text); }

uint32_t Inserter::ShapeOf(const std::vector<int64_t>& dims) {
  step_.shapes.push_back(
      {static_cast<uint32_t>(step_.dims.size()), static_cast<uint32_t>(dims.size()), true});
  step_.dims.insert(step_.dims.end(), dims.begin(), dims.end());
  return static_cast<uint32_t>(step_.shapes.size() - 1);
}

Operand Inserter::Matrix(uint32_t block, int64_t rows, int64_t columns, bool transposed) {
  Operand operand;
  operand.block = block;
  operand.shape = ShapeOf({rows, columns});
  operand.strides = transposed ? ShapeOf({1, rows}) : ShapeOf({columns, 1});
  operand.dtype = dtype_;
  operand.flags = static_cast<uint8_t>(trace::kTensorRequiresGrad);
  return operand;
}

uint32_t Inserter::AddBlock(StepBlock block) {
  step_.blocks.push_back(block);
  return static_cast<uint32_t>(step_.blocks.size() - 1);
}

uint32_t Inserter::AddNode(uint32_t op, Position made) {
  Node node;
  node.op = op;
  node.made = made;
  step_.nodes.push_back(node);
  return static_cast<uint32_t>(step_.nodes.size() - 1);
}

void Inserter::Save(uint32_t block, uint32_t node, Position at) {
  step_.saved.push_back({block, node, at, kForever});
}

void Inserter::AddOperands(uint32_t op, std::vector<Operand> operands, uint32_t& first, uint32_t& count) {
  first = static_cast<uint32_t>(step_.operands.size());
  count = static_cast<uint32_t>(operands.size());
  for (uint16_t i = 0; i < count; ++i) {
    operands[i].op = op;
    operands[i].argument = i;
  }
  step_.operands.insert(step_.operands.end(), operands.begin(), operands.end());
}

uint32_t Inserter::Begin(std::string_view name, uint32_t parent, uint32_t node, Position at,
                         std::vector<Operand> inputs) {
  const auto op = static_cast<uint32_t>(step_.ops.size());
  Op made;
  made.name = Text(name);
  made.parent = parent;
  made.node = node;
  made.begin = at;
  AddOperands(op, std::move(inputs), made.first_input, made.input_count);
  step_.ops.push_back(made);
  return op;
}

void Inserter::End(uint32_t op, Position at, std::vector<Operand> outputs) {
  step_.ops[op].end = at;
  for (Operand& output : outputs) output.flags |= static_cast<uint8_t>(trace::kTensorIsOutput);
  AddOperands(op, std::move(outputs), step_.ops[op].first_output, step_.ops[op].output_count);
}

Step Inserter::Finish() && {
  std::vector<uint32_t> order(step_.ops.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return step_.ops[a].begin < step_.ops[b].begin; });
  std::vector<uint32_t> place(order.size());
  std::vector<Op> ops;
  for (uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    ops.push_back(step_.ops[order[i]]);
  }
  const auto renumber = [&](uint32_t& op) {
    if (op != kNone) op = place[op];
  };
  for (Op& op : ops) renumber(op.parent);
  for (StepBlock& block : step_.blocks) renumber(block.op);
  for (Operand& operand : step_.operands) renumber(operand.op);
  for (Node& node : step_.nodes) renumber(node.op);
  step_.ops = std::move(ops);
  OrderOpEnds(step_);
  return std::move(step_);
}

}  // namespace vramscope::whatif
