// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/training/linears.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "profiler/whatif/step/segments.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class LinearFinder {
 public:
  LinearFinder(const Step& step, std::string_view patterns) : step_(step), patterns_(patterns) {
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

constexpr std::string_view kWeight = ".weight", kBias = ".bias";

// Layers that the step does not call.
class IdleFinder {
 public:
  IdleFinder(const Step& step, const std::vector<LinearCall>& called, std::string_view patterns)
      : step_(step), patterns_(patterns), used_(step.blocks.size(), false) {
    for (const ModuleCall& call : step.modules) running_.insert(step.Text(call.name));
    const Position backward = step.backward.empty() ? step.length : step.backward.front().begin;
    for (const Operand& operand : step.operands) {
      const Op& op = step.ops[operand.op];
      if (operand.block != kNone && op.node == kNone && op.begin < backward) used_[operand.block] = true;
    }
    for (uint32_t i = 0; i < step.blocks.size(); ++i) {
      const std::string_view name = step.blocks[i].name;
      if (IsParameter(i) && name.ends_with(kBias)) biases_[name.substr(0, name.size() - kBias.size())] = i;
    }
    for (const LinearCall& linear : called) like_.emplace(SizesOf(linear.weight, linear.path), &linear);
    if (const auto calls = ChooseSegments(step, "all"); patterns.empty() && calls.ok())
      for (const uint32_t call : *calls) lists_.insert(ParentPath(step.Text(step.modules[call].name)));
  }

  [[nodiscard]] std::vector<LinearCall> Find() const {
    std::vector<LinearCall> found;
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const std::string_view name = step_.blocks[i].name;
      if (used_[i] || !IsParameter(i) || !name.ends_with(kWeight)) continue;
      LinearCall linear;
      linear.path = name.substr(0, name.size() - kWeight.size());
      const auto like = like_.find(SizesOf(i, linear.path));
      if (like == like_.end() || running_.contains(linear.path) || !Wanted(linear.path)) continue;
      linear.weight = i;
      if (const auto bias = biases_.find(linear.path); bias != biases_.end()) linear.bias = bias->second;
      linear.in = like->second->in, linear.out = like->second->out;
      linear.given.dtype = like->second->given.dtype;
      found.push_back(linear);
    }
    return found;
  }

 private:
  [[nodiscard]] bool IsParameter(uint32_t block) const {
    return step_.blocks[block].category == classify::Category::kParameter;
  }
  // Bytes of the weight and of the bias.
  [[nodiscard]] std::pair<uint64_t, uint64_t> SizesOf(uint32_t weight, std::string_view path) const {
    const auto bias = biases_.find(path);
    return {step_.blocks[weight].requested, bias == biases_.end() ? 0 : step_.blocks[bias->second].requested};
  }
  // In a member of one of the lists that the model's blocks are in, which need not be called itself.
  [[nodiscard]] bool Wanted(std::string_view path) const {
    if (!patterns_.empty()) return BelongsToOne(path, patterns_);
    return lists_.empty() || std::any_of(lists_.begin(), lists_.end(), [&](std::string_view list) {
             if (list.empty()) return true;
             return path.starts_with(list) && path.substr(list.size()).starts_with('.') &&
                    path.find('.', list.size() + 1) != std::string_view::npos;
           });
  }

  const Step& step_;
  const std::string_view patterns_;
  std::vector<bool> used_;  // by block: by operators of forward
  std::set<std::string_view> running_, lists_;
  std::map<std::string_view, uint32_t> biases_;                      // by path of the layer
  std::map<std::pair<uint64_t, uint64_t>, const LinearCall*> like_;  // by sizes
};

}  // namespace

std::vector<LinearCall> LinearCalls(const Step& step, std::string_view patterns,
                                    std::vector<std::string>* shared) {
  return LinearFinder(step, patterns).Find(shared);
}

std::vector<LinearCall> UncalledLinears(const Step& step, const std::vector<LinearCall>& called,
                                        std::string_view patterns) {
  return IdleFinder(step, called, patterns).Find();
}

Position SetUpAt(const Step& step, const LinearCall& linear) {
  const Position weight = SetUpAt(step, linear.weight);
  const Position bias = linear.bias == kNone ? kBefore : SetUpAt(step, linear.bias);
  return bias < kBefore ? std::max(weight, bias) : weight;
}

}  // namespace vramscope::whatif
