// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/half_only.h"

#include <algorithm>
#include <optional>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/step/insert.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

struct Clamp {
  uint32_t block = kNone;
  Position at = 0;        // recorded: behind it
  uint32_t node = kNone;  // that is given the tensor's gradient
  Operand made;           // the tensor
  Operand gradient;
};

// softmax(x, dim=-1), which would have been softmax(x, dim=-1, dtype=torch.float32).to(torch.float16).
struct Softmax {
  uint32_t op = kNone;
  Operand made;
};

class Finder {
 public:
  explicit Finder(const Step& step) : step_(step), given_(step.nodes.size(), kNone) {
    for (const Op& op : step.ops) {
      if (op.node == kNone || op.parent != kNone || op.name != step.nodes[op.node].name) continue;
      if (op.input_count != 0) given_[op.node] = op.first_input;
    }
  }

  [[nodiscard]] std::optional<Softmax> SoftmaxOf(const TypeBranch& fact, const std::vector<bool>& low) const {
    uint32_t i = step_.blocks[fact.block].op;
    while (i != kNone && step_.ops[i].parent != kNone) i = step_.ops[i].parent;
    if (i == kNone || step_.NameOf(step_.ops[i]) != "aten::softmax") return std::nullopt;
    const Operand* const made = ResultIn(step_.ops[i], fact.block);
    const std::span<const Operand> given = InputsOf(step_, step_.ops[i]);
    if (made == nullptr || given.empty() || given[0].block == kNone || !low[given[0].block])
      return std::nullopt;
    return Softmax{i, *made};
  }

  [[nodiscard]] std::optional<Clamp> ClampOf(const TypeBranch& fact) const {
    for (uint32_t i = step_.blocks[fact.block].op; i != kNone; i = step_.ops[i].parent) {
      const Operand* const made = ResultIn(step_.ops[i], fact.block);
      const uint32_t node = made == nullptr ? kNone : NodeOf(i);
      if (node == kNone || step_.nodes[node].begin >= kForever || given_[node] == kNone) continue;
      const Operand& gradient = step_.operands[given_[node]];
      if (gradient.block == kNone || step_.blocks[gradient.block].begin == kBefore) continue;
      return Clamp{fact.block, fact.at - 1, node, *made, gradient};
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] const Operand* ResultIn(const Op& op, uint32_t block) const {
    const std::span<const Operand> results = OutputsOf(step_, op);
    const auto found = std::find_if(results.begin(), results.end(),
                                    [&](const Operand& result) { return result.block == block; });
    return found == results.end() || !step_.shapes[found->shape].known ? nullptr : &*found;
  }
  [[nodiscard]] uint32_t NodeOf(uint32_t op) const {
    for (uint32_t i = 0; i < step_.nodes.size(); ++i)
      if (step_.nodes[i].op == op) return i;
    return kNone;
  }

  const Step& step_;
  std::vector<uint32_t> given_;  // by node: the operand that is its first gradient
};

struct Found {
  std::vector<Clamp> clamps;
  std::vector<Softmax> softmaxes;
};

std::vector<Position> Places(const Step& step, const Found& found) {
  std::vector<Position> places;
  for (const Softmax& softmax : found.softmaxes) places.push_back(step.ops[softmax.op].end);
  for (const Clamp& clamp : found.clamps) {
    places.push_back(clamp.at);
    places.push_back(step.nodes[clamp.node].begin - 1);
  }
  return places;
}

class Writer {
 public:
  Writer(const Step& step, const Found& found) : recorded_(step), into_(step, Places(step, found)) {}

  // As a recording has it in which the program says so for float32 too: both calls name a type, and the
  // second one returns what it is given.
  void Add(const Softmax& softmax) {
    Room room = into_.RoomBehind(recorded_.ops[softmax.op].end);
    const uint32_t name = into_.Text(kFloatName);
    into_.step().ops[softmax.op].dtype = name;
    const Operand made = Like(softmax.made, softmax.made.block);
    const uint32_t back = into_.Begin("aten::to", kNone, kNone, room.Tick(), {made});
    into_.step().ops[back].dtype = name;
    into_.End(back, room.Tick(), {made});
  }

  void Add(const Clamp& clamp) {
    const uint32_t block = clamp.block;
    Room room = into_.RoomBehind(clamp.at);
    Operand given = Like(clamp.made, block);
    const uint32_t op = into_.Begin("aten::clamp", kNone, kNone, room.Tick(), {given});
    const uint32_t node = into_.AddNode(op, room.Tick());
    into_.Save(block, node, room.Tick());
    const auto save = static_cast<uint32_t>(into_.step().saved.size() - 1);
    const uint32_t made = AddBlock(block, op, room, into_.step().blocks[block].requested);
    StepBlock& clamped = into_.step().blocks[made];
    clamped.category = Category::kActivation;
    clamped.end = into_.step().blocks[block].end;
    into_.End(op, room.Tick(), {Like(clamp.made, made)});
    UseFrom(room.Tick(), block, made);
    Differentiate(clamp, given, node, save);
  }

  Step Finish() && { return std::move(into_).Finish(); }

 private:
  static Operand Like(Operand operand, uint32_t block) {
    operand.block = block;
    operand.offset = 0;
    operand.flags &= static_cast<uint8_t>(~trace::kTensorIsOutput);
    return operand;
  }

  uint32_t AddBlock(uint32_t like, uint32_t op, Room& room, uint64_t bytes) {
    StepBlock block = CopyOf(into_.step(), like);
    block.copy_of = kNone;
    block.name = {};
    block.requested = bytes;
    block.begin = room.Tick();
    block.end = block.accumulated = block.replaced = kForever;
    block.op = op;
    block.category = Category::kTemporaryBackward;
    return into_.AddBlock(block);
  }

  // What came behind works on the clamped one, and so do the nodes that kept it.
  void UseFrom(Position from, uint32_t block, uint32_t made) {
    Step& step = into_.step();
    std::vector<bool> keeps(step.nodes.size());
    for (Saved& saved : step.saved) {
      if (saved.block != block || saved.at < from) continue;
      saved.block = made;
      if (saved.node != kNone) keeps[saved.node] = true;
    }
    for (Operand& operand : step.operands) {
      if (operand.block != block) continue;
      const Op& op = step.ops[operand.op];
      if (op.node == kNone ? op.begin > from : keeps[op.node]) operand.block = made;
    }
    for (Held& held : step.held) {
      if (held.block == block && step.modules[held.call].begin > from) held.block = made;
    }
    for (KeptResult& kept : step.kept_results) {
      if (kept.block == block && step.modules[kept.call].end > from) kept.block = made;
    }
    const auto named = std::find_if(step.named.begin(), step.named.end(),
                                    [&](const Named& one) { return one.block == block && one.until > from; });
    if (named == step.named.end()) return;
    Named of_made = *named;
    of_made.block = made;
    named->until = std::min(named->until, from), named->unconverted = std::min(named->unconverted, from);
    step.named.push_back(of_made);
  }

  // where((x >= min).logical_and_(x <= max), gradient, 0): clamp_backward in FunctionsManual.cpp.
  void Differentiate(const Clamp& clamp, const Operand& given, uint32_t node, uint32_t save) {
    Room room = into_.RoomBehind(recorded_.nodes[clamp.node].begin - 1);
    const uint32_t name = into_.Text("ClampBackward1");
    into_.step().nodes[node].name = name;
    into_.step().nodes[node].begin = room.Tick();
    const Operand gradient = Like(clamp.gradient, clamp.gradient.block);
    const uint32_t backward = into_.Begin("ClampBackward1", kNone, node, room.Tick(), {gradient});
    const Operand above = Compare("aten::ge", given, backward, node, room);
    const Operand below = Compare("aten::le", given, backward, node, room);
    const uint32_t chosen = into_.Begin("aten::where", backward, node, room.Tick(), {above, gradient});
    const uint32_t made =
        AddBlock(gradient.block, chosen, room, into_.step().blocks[gradient.block].requested);
    into_.End(chosen, room.Tick(), {Like(gradient, made)});
    into_.step().blocks[above.block].end = into_.step().blocks[below.block].end = room.Tick();
    into_.End(backward, room.Tick(), {Like(gradient, made)});
    Step& step = into_.step();
    step.nodes[node].end = room.Tick();
    step.saved[save].released = step.blocks[given.block].end = room.Tick();
    step.blocks[made].end = step.blocks[gradient.block].end;
    step.blocks[gradient.block].end = room.Tick();
    const Position behind = room.Tick();
    for (Operand& operand : step.operands) {
      if (operand.block == gradient.block && step.ops[operand.op].begin > behind) operand.block = made;
    }
  }

  Operand Compare(const char* name, const Operand& given, uint32_t parent, uint32_t node, Room& room) {
    const uint32_t op = into_.Begin(name, parent, node, room.Tick(), {given});
    const uint64_t elements = into_.step().blocks[given.block].requested / BytesOf(given.dtype);
    Operand result = Like(given, AddBlock(given.block, op, room, elements));
    result.dtype = kBoolType;
    into_.End(op, room.Tick(), {result});
    return result;
  }

  const Step& recorded_;
  Inserter into_;
};

}  // namespace

Step WithHalfOnly(const Step& step, const std::vector<bool>& low, uint8_t type) {
  const Finder finder(step);
  Found found;
  for (const TypeBranch& fact : step.half_only) {
    if (fact.bfloat16 != (type == kBfloat16Type)) continue;
    if (fact.form == TypeBranch::Form::kSoftmax) {
      if (const auto softmax = finder.SoftmaxOf(fact, low)) found.softmaxes.push_back(*softmax);
      continue;
    }
    const bool again = std::any_of(found.clamps.begin(), found.clamps.end(),
                                   [&](const Clamp& other) { return other.block == fact.block; });
    const auto clamp = low[fact.block] && !again ? finder.ClampOf(fact) : std::nullopt;
    if (clamp) found.clamps.push_back(*clamp);
  }
  if (found.clamps.empty() && found.softmaxes.empty()) return step;
  Writer writer(step, found);
  for (const Clamp& clamp : found.clamps) writer.Add(clamp);
  for (const Softmax& softmax : found.softmaxes) writer.Add(softmax);
  return std::move(writer).Finish();
}

Step InLowWithHalfOnly(const Step& step, uint8_t type, Step (*retype)(const Step&, uint8_t)) {
  Step changed = retype(step, type);
  const bool asked = std::any_of(step.half_only.begin(), step.half_only.end(), [&](const TypeBranch& fact) {
    return fact.bfloat16 == (type == kBfloat16Type);
  });
  if (!asked) return changed;
  std::vector<bool> low(step.blocks.size());
  for (uint32_t i = 0; i < low.size(); ++i) low[i] = changed.blocks[i].requested < step.blocks[i].requested;
  return retype(WithHalfOnly(step, low, type), type);
}

}  // namespace vramscope::whatif
