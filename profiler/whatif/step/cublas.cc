// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/cublas.h"

#include <algorithm>

#include "profiler/whatif/step/release.h"

namespace vramscope::whatif {
namespace {

bool IsProduct(std::string_view op) {
  constexpr std::string_view kProducts[] = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm",
                                            "aten::mv", "aten::addmv", "aten::dot"};
  return std::find(std::begin(kProducts), std::end(kProducts), op) != std::end(kProducts);
}

}  // namespace

CublasWorkspace WorkspaceOfProducts(const Step& step) {
  CublasWorkspace workspace;
  bool seen = false;
  for (const StepBlock& block : step.blocks) {
    seen |= block.workspace;
    if (!block.workspace || block.begin == kBefore || block.end >= kForever || block.op == model::kNone)
      continue;
    workspace.bytes = kCublas;
    if (step.NameOf(step.ops[block.op]) != "aten::bmm") continue;
    workspace.bytes = block.requested;
    break;
  }
  seen |=
      std::any_of(step.ops.begin(), step.ops.end(), [&](const Op& op) { return IsProduct(step.NameOf(op)); });
  return seen ? workspace : CublasWorkspace{kCublas, !IsFrom(step.torch_version, 2, 15)};
}

bool TritonMakesOuterProducts(const Step& step) {
  const std::string ops = "," + step.triton_ops + ",";
  return ops.find(",bmm,") != std::string::npos;
}

}  // namespace vramscope::whatif
