// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/training/narrow.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "profiler/classify/names.h"
#include "profiler/whatif/step/segments.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class Tracer {
 public:
  Tracer(const Step& step, std::vector<LinearCall> linears)
      : step_(step), linears_(std::move(linears)), root_(linears_.size()), seen_(linears_.size()) {
    std::iota(root_.begin(), root_.end(), 0);
    owner_.resize(step.blocks.size(), kNone);
    for (uint32_t i = 0; i < linears_.size(); ++i) owner_[linears_[i].output] = i;
  }

  HiddenWidths Trace(std::string_view patterns) {
    const Position backward = step_.backward.front().begin;
    for (const uint32_t op : step_.op_ends) {
      if (step_.ops[op].node == kNone && step_.ops[op].end < backward) Pass(op);
    }
    HiddenWidths hidden;
    std::set<std::string_view> wanted;
    for (const LinearCall& linear : LinearCalls(step_, patterns)) wanted.insert(linear.path);
    for (uint32_t i = 0; i < linears_.size(); ++i) {
      if (Root(i) != i) continue;
      HiddenWidth width = Collect(i);
      const bool asked = std::all_of(width.makers.begin(), width.makers.end(),
                                     [&](uint32_t maker) { return wanted.contains(linears_[maker].path); });
      if (asked && IsHidden(i, width)) hidden.widths.push_back(std::move(width));
    }
    hidden.linears = linears_;
    return hidden;
  }

 private:
  // What is known of the width that a layer makes; at the layer that stands for all that meet.
  struct Seen {
    std::set<uint32_t> takers, ops;
    std::set<int64_t> heads;
    bool escapes = false;
    bool shrinks = false;  // something smaller is computed of it, as attention does
  };

  uint32_t Root(uint32_t linear) {
    while (root_[linear] != linear) linear = root_[linear] = root_[root_[linear]];
    return linear;
  }

  void Join(uint32_t a, uint32_t b) {
    a = Root(a), b = Root(b);
    if (a == b) return;
    if (b < a) std::swap(a, b);
    root_[b] = a;
    seen_[a].takers.merge(seen_[b].takers);
    seen_[a].ops.merge(seen_[b].ops);
    seen_[a].heads.merge(seen_[b].heads);
    seen_[a].escapes |= seen_[b].escapes;
    seen_[a].shrinks |= seen_[b].shrinks;
  }

  // The layer in whose call the operator is.
  [[nodiscard]] uint32_t LinearAt(Position at) const {
    for (uint32_t i = 0; i < linears_.size(); ++i) {
      const ModuleCall& call = step_.modules[linears_[i].call];
      if (call.begin < at && at < call.end) return i;
    }
    return kNone;
  }

  void Pass(uint32_t index) {
    const Op& op = step_.ops[index];
    const std::span<const Operand> inputs{step_.operands.data() + op.first_input, op.input_count};
    const std::span<const Operand> outputs{step_.operands.data() + op.first_output, op.output_count};
    uint32_t width = kNone;
    uint64_t elements = 0;
    const uint32_t linear = LinearAt(op.begin);
    for (const Operand& input : inputs) {
      if (input.block == kNone || owner_[input.block] == kNone) continue;
      if (linear != kNone) {
        if (input.block == linears_[linear].given.block)
          seen_[Root(owner_[input.block])].takers.insert(linear);
        continue;
      }
      if (width != kNone) Join(width, owner_[input.block]);
      width = Root(owner_[input.block]);
      elements = std::max(elements, ElementsIn(step_, input));
      if (step_.Rank(input.shape) == 4 && IsAttention(op))
        seen_[width].heads.insert(step_.Dims(input.shape)[1]);
    }
    if (width == kNone) return;
    seen_[width].ops.insert(index);
    for (const Operand& input : inputs) {
      if (input.block == kNone || owner_[input.block] != kNone) continue;
      // A residual stream, or a norm over the width.
      if (step_.blocks[input.block].begin != kBefore
              ? ElementsIn(step_, input) >= elements
              : ElementsIn(step_, input) == static_cast<uint64_t>(linears_[width].out))
        seen_[width].escapes = true;
    }
    for (const Operand& output : outputs) {
      if (output.block == kNone || step_.blocks[output.block].begin < op.begin ||
          output.block == linears_[width].output)
        continue;
      if (owner_[output.block] != kNone)
        Join(width, owner_[output.block]);
      else
        owner_[output.block] = width;
      width = Root(width);
      seen_[width].shrinks |= ElementsIn(step_, output) < elements;
    }
  }

  [[nodiscard]] bool IsAttention(const Op& op) const {
    const std::string_view name = step_.NameOf(op);
    return name == "aten::matmul" || name.find("attention") != std::string_view::npos;
  }

  HiddenWidth Collect(uint32_t root) {
    HiddenWidth width;
    for (uint32_t i = 0; i < linears_.size(); ++i) {
      if (Root(i) == root) width.makers.push_back(i);
    }
    const Seen& seen = seen_[root];
    width.takers.assign(seen.takers.begin(), seen.takers.end());
    width.ops.assign(seen.ops.begin(), seen.ops.end());
    width.heads = !seen.heads.empty();
    // Of several counts, as of keys that heads share, a part of the smallest is a part of all.
    width.units = width.heads ? *seen.heads.begin() : linears_[root].out;
    for (uint32_t i = 0; i < owner_.size(); ++i) {
      if (owner_[i] != kNone && Root(owner_[i]) == root) width.blocks.push_back(i);
    }
    return width;
  }

  bool IsHidden(uint32_t root, const HiddenWidth& width) {
    const bool summed = seen_[root].shrinks && !width.heads;
    if (seen_[root].escapes || summed || width.takers.empty()) return false;
    const auto divides = [&](int64_t size) { return size % width.units == 0; };
    return std::all_of(seen_[root].heads.begin(), seen_[root].heads.end(), divides) &&
           std::all_of(width.makers.begin(), width.makers.end(),
                       [&](uint32_t i) { return divides(linears_[i].out); }) &&
           std::all_of(width.takers.begin(), width.takers.end(),
                       [&](uint32_t i) { return divides(linears_[i].in); });
  }

  const Step& step_;
  const std::vector<LinearCall> linears_;
  std::vector<uint32_t> root_;
  std::vector<Seen> seen_;
  std::vector<uint32_t> owner_;  // by block: the layer whose width it has
};

class Narrower {
 public:
  Narrower(const Step& step, const std::vector<LinearCall>& linears)
      : step_(step), linears_(linears), stepped_(SteppedParameters(step)), shares_(step.blocks.size()) {}

  void Take(const HiddenWidth& width, Share share) {
    share_ = share;
    for (const uint32_t block : width.blocks) Mark(block);
    std::vector<bool> between(step_.ops.size(), false);
    for (const uint32_t op : width.ops) between[op] = true;
    for (uint32_t i = 0; i < step_.ops.size(); ++i) {
      if (step_.ops[i].parent != kNone && between[step_.ops[i].parent]) between[i] = true;
    }
    std::vector<bool> nodes(step_.nodes.size(), false);  // backward of what is between
    for (uint32_t i = 0; i < nodes.size(); ++i)
      nodes[i] = step_.nodes[i].op != kNone && between[step_.nodes[i].op];
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const StepBlock& block = step_.blocks[i];
      if (block.op == kNone || block.workspace || block.accumulated < kForever || block.copy_of != kNone)
        continue;
      const uint32_t node = step_.ops[block.op].node;
      if (node == kNone ? between[block.op] : nodes[node]) Mark(i);
    }
    for (const uint32_t maker : width.makers) {
      TakeParameter(linears_[maker].weight);
      if (linears_[maker].bias != kNone) TakeParameter(linears_[maker].bias);
      TakeSums(linears_[maker]);
      TakeWeightGradient(linears_[maker]);
    }
    for (const uint32_t taker : width.takers) {
      TakeParameter(linears_[taker].weight);
      TakeGradient(linears_[taker]);
    }
  }

  [[nodiscard]] Step Run() const {
    Step changed = step_;
    changed.narrowed = true;
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const uint32_t of = step_.blocks[i].copy_of;
      const Share share = of != kNone && shares_[i].of == 1 ? shares_[of] : shares_[i];
      uint64_t& bytes = changed.blocks[i].requested;
      bytes = (bytes * share.kept + share.of - 1) / share.of;
    }
    return changed;
  }

 private:
  void Mark(uint32_t block) { shares_[block] = share_; }

  // It, its gradient, and what the optimizer has for it.
  void TakeParameter(uint32_t parameter) {
    const std::string_view name = step_.blocks[parameter].name;
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const StepBlock& block = step_.blocks[i];
      const bool own = i == parameter || (!name.empty() && block.name == name);
      if (own || (stepped_[i] == parameter && block.requested == step_.blocks[parameter].requested)) Mark(i);
    }
  }

  [[nodiscard]] bool MadeIn(uint32_t node, const LinearCall& linear) const {
    const ModuleCall& call = step_.modules[linear.call];
    return node != kNone && step_.nodes[node].made > call.begin && step_.nodes[node].made < call.end;
  }

  // Partial sums of a bias's gradient.
  void TakeSums(const LinearCall& linear) {
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const StepBlock& block = step_.blocks[i];
      if (block.op == kNone || block.accumulated < kForever || block.workspace) continue;
      const Op& op = step_.ops[block.op];
      if (step_.NameOf(op) == "aten::sum" && MadeIn(op.node, linear)) Mark(i);
    }
  }

  // Of the weight, from one call of several: each has its own until the engine adds it to the others', and
  // only the sum has the parameter's name. What the layer was given may have as many rows as the weight has,
  // but its gradient is computed of the weight.
  void TakeWeightGradient(const LinearCall& linear) {
    const auto is_weight = [&](const Operand& input) {
      return input.block != kNone &&
             (input.block == linear.weight || step_.blocks[input.block].copy_of == linear.weight);
    };
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const uint32_t op = step_.blocks[i].op;
      if (op == kNone || !MadeIn(step_.ops[op].node, linear)) continue;
      const std::string_view name = step_.NameOf(step_.ops[op]);
      if (name != "aten::mm" && name != "aten::bmm") continue;
      const std::span<const Operand> inputs{step_.operands.data() + step_.ops[op].first_input,
                                            step_.ops[op].input_count};
      const std::span<const Operand> outputs{step_.operands.data() + step_.ops[op].first_output,
                                             step_.ops[op].output_count};
      const bool shaped = std::any_of(outputs.begin(), outputs.end(), [&](const Operand& output) {
        return output.block == i && ElementsIn(step_, output) ==
                                        static_cast<uint64_t>(linear.in) * static_cast<uint64_t>(linear.out);
      });
      if (shaped && std::none_of(inputs.begin(), inputs.end(), is_weight)) Mark(i);
    }
  }

  // Of what the layer was given.
  void TakeGradient(const LinearCall& linear) {
    for (const Operand& operand : step_.operands) {
      const Op& op = step_.ops[operand.op];
      const uint32_t rank = step_.Rank(operand.shape);
      if (operand.block == kNone || rank < 2 || step_.Dims(operand.shape)[rank - 1] != linear.in ||
          (operand.flags & trace::kTensorIsOutput) == 0 || !MadeIn(op.node, linear))
        continue;
      if (step_.blocks[operand.block].begin > op.begin) Mark(operand.block);
    }
  }

  const Step& step_;
  const std::vector<LinearCall>& linears_;
  const std::vector<uint32_t> stepped_;
  std::vector<Share> shares_;  // by block
  Share share_;
};

}  // namespace

std::string WhyNoHiddenWidths(const Step& step) {
  if (step.backward.size() != 1 || step.optimizer.size() != 1 || step.modules.empty())
    return "calls of modules, one backward pass and one optimizer step are needed: record a Python program "
           "that "
           "trains.";
  if (step.narrowed) return "widths are pruned already: record the pruned program, and ask then.";
  if (!step.inserted.empty())
    return "beside layers that --lora is asked for, widths cannot be told: record the program with LoRA, and "
           "ask "
           "without.";
  return "";
}

HiddenWidths HiddenWidthsOf(const Step& step, std::string_view patterns) {
  std::vector<LinearCall> linears = LinearCalls(step, "*");
  std::erase_if(linears, [](const LinearCall& linear) { return linear.output == kNone; });
  return Tracer(step, std::move(linears)).Trace(patterns);
}

Step Narrowed(const Step& step, const HiddenWidths& hidden, const std::vector<Share>& shares) {
  Narrower narrower(step, hidden.linears);
  for (size_t i = 0; i < hidden.widths.size(); ++i) narrower.Take(hidden.widths[i], shares[i]);
  return narrower.Run();
}

}  // namespace vramscope::whatif
