// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/training/lora_gradients.h"

#include <algorithm>
#include <span>

#include "profiler/whatif/precision/added_gradients.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

std::span<Operand> InputsOf(Step& step, const Op& op) {
  return {step.operands.data() + op.first_input, op.input_count};
}

// The engine's own addition while it runs `node`; kNone when there is none.
uint32_t AdditionOf(const Step& step, uint32_t node) {
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    const Op& op = step.ops[i];
    if (op.node != node || op.parent != kNone || op.name == step.nodes[node].name) continue;
    const std::string_view name = step.NameOf(op);
    if ((name == "aten::add" || name == "aten::add_") && op.input_count >= 2 && op.output_count >= 1)
      return i;
  }
  return kNone;
}

}  // namespace

std::vector<GradientPlace> GradientPlacesOf(const Step& step, const std::vector<LinearCall>& linears) {
  std::vector<GradientPlace> places;
  for (const LinearCall& linear : linears) {
    const ModuleCall& call = step.modules[linear.call];
    GradientPlace place;
    Position made = kForever;
    uint32_t first = kNone;
    for (uint32_t i = 0; i < step.nodes.size(); ++i) {
      const Node& node = step.nodes[i];
      if (node.op == kNone || node.begin >= kForever || node.made < call.begin || node.made > call.end)
        continue;
      if (node.begin < place.begin) place.begin = node.begin, first = i;
      const Op& op = step.ops[node.op];
      for (uint32_t k = 0; k < op.input_count; ++k) {
        const Operand& input = step.operands[op.first_input + k];
        if (input.block == linear.given.block && (input.flags & trace::kTensorRequiresGrad) != 0 &&
            node.made < made)
          made = node.made, place.node = i;
      }
    }
    uint32_t given = kNone;  // the gradient that the node is given: it hands that on where it makes none
    const auto is_of_input = [&](const Operand& gradient) {
      const uint32_t rank = step.Rank(gradient.shape);
      return gradient.block != kNone && rank >= 2 && step.Dims(gradient.shape)[rank - 1] == linear.in &&
             step.blocks[gradient.block].begin > step.backward.front().begin &&
             step.blocks[gradient.block].accumulated >= kForever;
    };
    for (const Op& op : step.ops) {
      if (place.node != kNone && op.node == place.node && op.parent == kNone &&
          op.name == step.nodes[place.node].name && op.input_count > 0 &&
          is_of_input(step.operands[op.first_input]))
        given = step.operands[op.first_input].block;
      if (first != kNone && op.node == first && op.parent == kNone && op.name == step.nodes[first].name &&
          op.input_count > 0)
        place.gradient = step.operands[op.first_input], place.operand = op.first_input;
      if (place.node == kNone || op.node != place.node || op.parent == kNone) continue;
      for (uint32_t k = 0; k < op.output_count; ++k) {
        const Operand& output = step.operands[op.first_output + k];
        if (is_of_input(output)) place.sum = output.block;
      }
    }
    if (place.sum == kNone) place.sum = given;  // of a copy of an input that lies with gaps
    if (place.sum != kNone) place.sum_end = step.nodes[place.node].end;
    places.push_back(place);
  }
  return places;
}

void SumGradients(const LinearCall& linear, const GradientPlace& place, uint32_t first, Inserter& into,
                  Room& room) {
  const uint32_t addition = AdditionOf(into.step(), place.node);
  const Operand handed = linear.given;
  const auto like = [&](uint32_t block) {
    Operand operand = handed;
    operand.block = block;
    return operand;
  };
  if (addition != kNone) {
    // The buffer has something already.
    const bool fresh = into.step().NameOf(into.step().ops[addition]) == "aten::add_";
    const uint32_t buffer = InputsOf(into.step(), into.step().ops[addition])[0].block;
    const uint32_t result = into.step().operands[into.step().ops[addition].first_output].block;
    if (buffer == kNone || result == kNone) return;
    const uint32_t add = into.Begin(fresh ? "aten::add_" : "aten::add", kNone, place.node, room.Tick(),
                                    {like(buffer), like(first)});
    const Position at = room.Tick();
    into.End(add, room.Tick(), {like(result)});
    Step& step = into.step();
    step.blocks[first].end = room.Tick();
    if (fresh) return;
    step.blocks[result].begin = at;
    step.blocks[result].op = add;
    step.blocks[buffer].end = room.Tick();
    step.ops[addition].name = into.Text("aten::add_");
    InputsOf(step, step.ops[addition])[0].block = result;
    return;
  }
  // The layer's own gradient gets a block of its own, and the recorded one is the sum.
  Room end = into.RoomBehind(place.sum_end - 1);
  const Position behind = end.Tick();
  StepBlock copy = CopyOf(into.step(), place.sum);
  const uint32_t own = into.AddBlock(copy);
  for (Operand& operand : into.step().operands) {
    if (operand.block == place.sum && into.step().ops[operand.op].begin < behind) operand.block = own;
  }
  const uint32_t add = into.Begin(linear.flat ? "aten::add_" : "aten::add", kNone, place.node, end.Tick(),
                                  {like(first), like(own)});
  Step& step = into.step();
  StepBlock& sum = step.blocks[place.sum];
  if (linear.flat) {
    sum.begin = step.blocks[first].begin;
    sum.op = step.blocks[first].op;
    Repoint(first, place.sum, step);
  } else {
    sum.begin = end.Tick();
    sum.op = add;
  }
  into.End(add, end.Tick(), {like(place.sum)});
  if (!linear.flat) into.step().blocks[first].end = end.Tick();
  into.step().blocks[own].end = end.Tick();
  // A block that nobody else sees is added to where it is.
  if (const uint32_t next = AdditionTo(step, place.sum); next != kNone) AddInPlace(next, step);
}

void KeepAsOthers(uint32_t gradient, std::string_view weight, int turn, Inserter& into) {
  Position end = kForever, carried = kBefore, of_weight = kBefore;
  for (const StepBlock& other : into.step().blocks) {
    if (other.id == kNone || other.name.empty()) continue;
    const bool left =
        other.category == classify::Category::kGradient && other.begin == kBefore && other.end < kForever;
    if (other.accumulated < kForever) end = other.end;
    if (left) carried = std::max(carried, other.end);
    if (left && other.name == weight) of_weight = other.end + kHair * turn;
  }
  if (of_weight != kBefore) carried = of_weight;
  StepBlock& block = into.step().blocks[gradient];
  block.end = end;
  if (carried == kBefore) return;
  StepBlock before = block;
  before.begin = kBefore;
  before.end = carried;
  before.accumulated = kForever;
  before.op = kNone;
  (void)into.AddBlock(before);
}

}  // namespace vramscope::whatif
