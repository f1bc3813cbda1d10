// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/cublas.h"

#include <algorithm>
#include <charconv>

#include "profiler/whatif/step/release.h"

namespace vramscope::whatif {
namespace {

// Removes ":NUMBER" from the start of the text.
bool TakeNumber(std::string_view& text, uint64_t& number) {
  if (!text.starts_with(':')) return false;
  const auto [behind, failed] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  if (failed != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(behind - text.data()));
  return true;
}

bool IsProduct(std::string_view op) {
  constexpr std::string_view kProducts[] = {"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm",
                                            "aten::mv", "aten::addmv", "aten::dot"};
  return std::find(std::begin(kProducts), std::end(kProducts), op) != std::end(kProducts);
}

}  // namespace

// parseChosenWorkspaceSize() in aten/src/ATen/cuda/CublasHandlePool.cpp reads all matches of
// ":([0-9]+):([0-9]+)", wherever they are.
uint64_t ConfiguredWorkspace(const Step& step) {
  uint64_t kibibytes = 0;
  bool any = false;
  for (std::string_view text = step.cublas; !text.empty();) {
    uint64_t size = 0, count = 0;
    std::string_view rest = text;
    const bool first = TakeNumber(rest, size), both = first && TakeNumber(rest, count);
    if (both) kibibytes += size * count, any = true;
    text = both ? rest : text.substr(1);
  }
  return any ? kibibytes << 10 : kCublas;
}

CublasWorkspace WorkspaceOfProducts(const Step& step) {
  CublasWorkspace workspace;
  bool seen = false;
  for (const StepBlock& block : step.blocks) {
    seen |= block.workspace;
    if (!block.workspace || block.begin == kBefore || block.end >= kForever || block.op == model::kNone)
      continue;
    workspace.bytes = ConfiguredWorkspace(step);
    if (step.NameOf(step.ops[block.op]) != "aten::bmm") continue;
    workspace.bytes = block.requested;
    break;
  }
  seen |=
      std::any_of(step.ops.begin(), step.ops.end(), [&](const Op& op) { return IsProduct(step.NameOf(op)); });
  return seen ? workspace : CublasWorkspace{ConfiguredWorkspace(step), !IsFrom(step.torch_version, 2, 15)};
}

bool TritonMakesOuterProducts(const Step& step) {
  const std::string ops = "," + step.triton_ops + ",";
  return ops.find(",bmm,") != std::string::npos;
}

}  // namespace vramscope::whatif
