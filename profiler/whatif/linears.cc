// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/linears.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "profiler/whatif/parameters.h"
#include "profiler/whatif/segments.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class Finder {
 public:
  Finder(const Step& step, std::string_view patterns) : step_(step), patterns_(patterns) {
    if (!patterns.empty()) return;
    if (const auto calls = ChooseSegments(step, "all"); calls.ok()) {
      for (const uint32_t call : *calls) blocks_.push_back(step.modules[call]);
    }
  }

  std::vector<LinearCall> Find(std::vector<std::string>* shared) {
    const Position backward = step_.backward.empty() ? step_.length : step_.backward.front().begin;
    std::map<uint32_t, uint32_t> multiplications;  // by call
    std::vector<LinearCall> found;
    for (uint32_t i = 0; i < step_.ops.size() && step_.ops[i].begin < backward; ++i) {
      const std::string_view name = step_.NameOf(step_.ops[i]);
      const bool biased = name == "aten::addmm" || name == "aten::_addmm_activation";
      if (!biased && name != "aten::mm" && name != "aten::bmm") continue;
      const uint32_t call = CallAt(step_, step_.ops[i].begin);
      if (call == kNone || ++multiplications[call] > 1) continue;
      if (auto linear = Read(i, call, biased ? 1 : 0)) found.push_back(*linear);
    }
    std::erase_if(found, [&](const LinearCall& linear) {
      return multiplications[linear.call] != 1 || !Wanted(linear);
    });
    DropShared(found, shared);
    return found;
  }

 private:
  [[nodiscard]] std::span<const Operand> Inputs(const Op& op) const {
    return {step_.operands.data() + op.first_input, op.input_count};
  }
  [[nodiscard]] std::span<const Operand> Outputs(const Op& op) const {
    return {step_.operands.data() + op.first_output, op.output_count};
  }

  [[nodiscard]] bool Wanted(const LinearCall& linear) const {
    if (!patterns_.empty()) return BelongsToOne(linear.path, patterns_);
    const Position at = step_.modules[linear.call].begin;
    return blocks_.empty() || std::any_of(blocks_.begin(), blocks_.end(), [&](const ModuleCall& block) {
             return block.begin < at && at < block.end;
           });
  }

  // `first`: which argument of the product is its left side.
  [[nodiscard]] std::optional<LinearCall> Read(uint32_t matmul, uint32_t call, uint16_t first) const {
    const Op& op = step_.ops[matmul];
    LinearCall linear;
    linear.path = step_.Text(step_.modules[call].name);
    linear.call = call;
    linear.matmul = matmul;
    const Operand *left = nullptr, *right = nullptr;
    for (const Operand& operand : Inputs(op)) {
      if (operand.argument == first) left = &operand;
      if (operand.argument == first + 1) right = &operand;
      if (operand.argument + 1 == first) linear.bias = operand.block;
    }
    if (left == nullptr || right == nullptr || right->block == kNone || !IsThere(step_, *left)) return {};
    if (step_.Rank(left->shape) != 2 || step_.Rank(right->shape) != 2) return {};
    if (step_.blocks[right->block].name != std::string(linear.path) + ".weight") return {};
    linear.weight = right->block;
    linear.input = left->block;
    linear.tokens = step_.Dims(left->shape)[0];
    linear.in = step_.Dims(left->shape)[1];
    linear.out = step_.Dims(right->shape)[1];
    if (linear.in < 1 || linear.out < 1 || linear.tokens < 0 || step_.Dims(right->shape)[0] != linear.in)
      return {};
    return ReadEnds(linear) ? std::optional(linear) : std::nullopt;
  }

  // What the module was given and what it returns: of its first operator and of its last.
  [[nodiscard]] bool ReadEnds(LinearCall& linear) const {
    const ModuleCall& call = step_.modules[linear.call];
    const Op* last = nullptr;
    bool given = false;
    const auto first = std::lower_bound(step_.ops.begin(), step_.ops.end(), call.begin,
                                        [](const Op& op, Position at) { return op.begin < at; });
    for (auto it = first; it != step_.ops.end() && it->begin < call.end; ++it) {
      const Op& op = *it;
      if (op.parent != kNone && step_.ops[op.parent].begin > call.begin) continue;
      last = &op;
      for (const Operand& input : Inputs(op)) {
        if (given || !IsThere(step_, input) || step_.Rank(input.shape) < 2) continue;
        if (input.block == linear.weight || (input.block != kNone && input.block == linear.bias)) continue;
        linear.given = input;
        given = true;
      }
    }
    if (!given || last == nullptr || last->output_count == 0) return false;
    linear.made = Outputs(*last)[0];
    linear.output = linear.made.block;
    linear.flat = step_.Rank(linear.given.shape) == 2;
    const auto width = [&](const Operand& operand) {
      return step_.Dims(operand.shape)[step_.Rank(operand.shape) - 1];
    };
    const bool none = linear.tokens == 0;  // then no block holds what goes in or comes out
    return (linear.input == kNone) == none && (linear.output == kNone) == none &&
           width(linear.given) == linear.in && width(linear.made) == linear.out;
  }

  // Weights that operators outside of their module work on: tied to a table, for example.
  void DropShared(std::vector<LinearCall>& found, std::vector<std::string>* shared) const {
    std::map<uint32_t, std::string_view> owners;
    for (const LinearCall& linear : found) owners[linear.weight] = linear.path;
    std::set<uint32_t> elsewhere;
    for (const Operand& operand : step_.operands) {
      const Op& op = step_.ops[operand.op];
      const auto owner =
          operand.block == kNone || op.node != kNone ? owners.end() : owners.find(operand.block);
      if (owner == owners.end() || op.begin > step_.backward.front().begin) continue;
      const uint32_t call = CallAt(step_, op.begin);
      if (call == kNone || step_.Text(step_.modules[call].name) != owner->second)
        elsewhere.insert(operand.block);
    }
    std::erase_if(found, [&](const LinearCall& linear) {
      if (!elsewhere.contains(linear.weight)) return false;
      if (shared != nullptr) shared->emplace_back(linear.path);
      return true;
    });
  }

  const Step& step_;
  const std::string_view patterns_;
  std::vector<ModuleCall> blocks_;
};

}  // namespace

std::vector<LinearCall> LinearCalls(const Step& step, std::string_view patterns,
                                    std::vector<std::string>* shared) {
  return Finder(step, patterns).Find(shared);
}

std::vector<LinearCall> UncalledLinears(const Step& step, const std::vector<LinearCall>& called,
                                        std::string_view patterns) {
  constexpr std::string_view kWeight = ".weight";
  const auto bytes = [&](uint32_t block) { return block == kNone ? 0 : step.blocks[block].requested; };
  std::set<std::string_view> running;
  for (const ModuleCall& call : step.modules) running.insert(step.Text(call.name));
  std::vector<bool> used(step.blocks.size(), false);
  for (const Operand& operand : step.operands) {
    if (operand.block != kNone) used[operand.block] = true;
  }
  std::map<std::string_view, uint32_t> biases;
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    const std::string_view name = step.blocks[i].name;
    if (name.ends_with(".bias")) biases[name.substr(0, name.size() - 5)] = i;
  }
  std::vector<std::string_view> blocks;
  if (const auto chosen = ChooseSegments(step, "all"); patterns.empty() && chosen.ok()) {
    for (const uint32_t call : *chosen) blocks.push_back(step.Text(step.modules[call].name));
  }
  const auto wanted = [&](std::string_view path) {
    if (!patterns.empty()) return BelongsToOne(path, patterns);
    return blocks.empty() || std::any_of(blocks.begin(), blocks.end(), [&](std::string_view block) {
             return path.starts_with(block) && path.substr(block.size()).starts_with('.');
           });
  };
  std::vector<LinearCall> found;
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    const StepBlock& block = step.blocks[i];
    if (used[i] || block.category != classify::Category::kParameter || !block.name.ends_with(kWeight))
      continue;
    LinearCall linear;
    linear.path = block.name.substr(0, block.name.size() - kWeight.size());
    linear.weight = i;
    if (const auto bias = biases.find(linear.path); bias != biases.end()) linear.bias = bias->second;
    if (running.contains(linear.path) || !wanted(linear.path)) continue;
    const auto like = std::find_if(called.begin(), called.end(), [&](const LinearCall& other) {
      return bytes(other.weight) == block.requested && bytes(other.bias) == bytes(linear.bias);
    });
    if (like == called.end()) continue;
    linear.in = like->in, linear.out = like->out;
    found.push_back(linear);
  }
  return found;
}

Position SetUpAt(const Step& step, const LinearCall& linear) {
  const Position weight = SetUpAt(step, linear.weight);
  const Position bias = linear.bias == kNone ? kBefore : SetUpAt(step, linear.bias);
  return bias < kBefore ? std::max(weight, bias) : weight;
}

}  // namespace vramscope::whatif
