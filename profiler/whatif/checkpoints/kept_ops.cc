// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/checkpoints/kept_ops.h"

#include <algorithm>
#include <set>

#include "profiler/text/number.h"
#include "profiler/text/split.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr std::string_view kOps = "ops:";

// A name that stands for several operators: those below autograd, which are the ones that the policy sees.
struct OpFamily {
  std::string_view name;
  std::vector<std::string> operators;
};

const std::vector<OpFamily>& OpFamilies() {
  static const std::vector<OpFamily> families = {
      {"matmul", {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::_addmm_activation"}},
      {"attention",
       {"aten::_scaled_dot_product_flash_attention", "aten::_scaled_dot_product_efficient_attention",
        "aten::_scaled_dot_product_cudnn_attention"}},
      {"convolution", {"aten::convolution"}},
  };
  return families;
}

const OpFamily* OpFamilyOf(std::string_view name) {
  for (const OpFamily& family : OpFamilies()) {
    if (family.name == name) return &family;
  }
  return nullptr;
}

bool IsCalled(const Step& step, const Op& op, const std::string& name) {
  const OpFamily* const family = OpFamilyOf(name);
  if (family == nullptr) return step.NameOf(op) == "aten::" + name;
  return std::find(family->operators.begin(), family->operators.end(), step.NameOf(op)) !=
         family->operators.end();
}

}  // namespace

Result<CheckpointChoice> ParseCheckpoint(std::string_view value) {
  CheckpointChoice choice;
  for (std::string_view part : text::CommaParts(value)) {
    if (part.substr(0, kOps.size()) != kOps) {
      choice.modules += (choice.modules.empty() ? "" : ",") + std::string(part);
      continue;
    }
    part.remove_prefix(kOps.size());
    while (!part.empty()) {
      const std::string_view name = part.substr(0, part.find('+'));
      part.remove_prefix(std::min(name.size() + 1, part.size()));
      if (!name.empty()) choice.operators.emplace_back(name);
    }
    if (choice.operators.empty())
      return Error{"--checkpoint ops: needs the operators whose outputs are kept: ops:matmul+attention."};
  }
  if (choice.modules.empty() && !choice.operators.empty()) choice.modules = "all";
  if (choice.modules.empty())
    return Error{"--checkpoint needs all, every:K or the paths of modules, not \"" + std::string(value) +
                 "\"."};
  constexpr std::string_view kEvery = "every:";
  if (!choice.modules.starts_with(kEvery)) return choice;
  const std::string number = choice.modules.substr(kEvery.size());
  if (text::ParseNumber<uint32_t>(number).value_or(0) == 0)
    return Error{"--checkpoint every:K needs a number, not \"" + number + "\"."};
  return choice;
}

namespace {

// By operator: true if autograd has a formula for it, or for an operator around it. The policy is then called
// for the operator with the formula. For example, torch.cdist() contains matrix products. Without training,
// the names decide (CompositeExplicitAutograd in aten/src/ATen/native/native_functions.yaml).
std::vector<bool> HaveFormulas(const Step& step) {
  constexpr std::string_view kNamed[] = {"aten::_euclidean_dist", "aten::_trilinear", "aten::addbmm"};
  std::vector<bool> formulas(step.ops.size(), false);
  for (const Node& node : step.nodes)
    if (node.op != kNone) formulas[node.op] = true;
  for (const OpIndex i : step.ops.Indices())
    if (std::ranges::find(kNamed, step.NameOf(step.ops[i])) != std::end(kNamed)) formulas[i] = true;
  for (const OpIndex i : step.ops.Indices())
    if (const OpIndex around = step.ops[i].parent; around != kNone && formulas[around]) formulas[i] = true;
  return formulas;
}

}  // namespace

Result<std::vector<OpIndex>> FindKeptOps(const Step& step, const std::vector<std::string>& operators) {
  std::vector<OpIndex> kept;
  if (operators.empty()) return kept;
  std::vector<bool> inside(step.ops.size(), false);  // inside another kept operator
  std::vector<bool> seen(operators.size(), false);
  const std::vector<bool> formulas = HaveFormulas(step);
  for (const OpIndex i : step.ops.Indices()) {
    const Op& op = step.ops[i];
    inside[i] = op.parent != kNone && inside[op.parent];
    if (inside[i] || op.node != kNone || (op.parent != kNone && formulas[op.parent])) continue;
    for (size_t name = 0; name < operators.size(); ++name) {
      if (!IsCalled(step, op, operators[name])) continue;
      inside[i] = seen[name] = true;
    }
    if (inside[i]) kept.push_back(i);
  }
  for (size_t name = 0; name < operators.size(); ++name) {
    if (!seen[name])
      return Error{"no operator of the recorded forward pass has the name " + operators[name] + "."};
  }
  return kept;
}

std::string KeptOpsCode(const Step& step, const std::vector<OpIndex>& ops) {
  std::set<std::string> names;
  for (const OpIndex op : ops)
    names.insert("torch.ops.aten." + std::string(step.NameOf(step.ops[op]).substr(6)) + ".default");
  std::string code;
  for (const std::string& name : names) code += (code.empty() ? "" : ", ") + name;
  return code;
}

}  // namespace vramscope::whatif
