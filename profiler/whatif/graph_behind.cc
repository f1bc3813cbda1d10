// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/graph_behind.h"

#include <algorithm>
#include <set>

namespace vramscope::whatif {
namespace {

using model::kNone;

class Graph {
 public:
  Graph(const Step& step, Position from) : step_(step), node_(step.ops.size(), kNone) {
    first_ = static_cast<uint32_t>(
        std::partition_point(step.ops.begin(), step.ops.end(), [&](const Op& op) { return op.begin < from; }) -
        step.ops.begin());
    for (uint32_t i = 0; i < step.nodes.size(); ++i)
      if (step.nodes[i].op != kNone) node_[step.nodes[i].op] = i;
    // What an operator calls computes for its node: that of a Function's forward has none of its own.
    for (uint32_t i = first_; i < step.ops.size(); ++i) {
      const uint32_t parent = step.ops[i].parent;
      if (node_[i] == kNone && parent != kNone && parent >= first_) node_[i] = node_[parent];
    }
  }

  [[nodiscard]] std::vector<bool> Behind(uint32_t block) const {
    std::vector<bool> behind(step_.nodes.size(), false);
    std::set<uint32_t> wanted = {block};
    for (auto i = static_cast<uint32_t>(step_.ops.size()); i-- > first_;) {
      const Op& op = step_.ops[i];
      if (op.node != kNone || (node_[i] == kNone && step_.NameOf(op) != "aten::to")) continue;
      const auto results = OutputsOf(step_, op);
      if (std::none_of(results.begin(), results.end(),
                       [&](const Operand& result) { return wanted.contains(result.block); }))
        continue;
      if (node_[i] != kNone) behind[node_[i]] = true;
      for (const Operand& operand : InputsOf(step_, op))
        if (operand.block != kNone) wanted.insert(operand.block);
    }
    return behind;
  }
  [[nodiscard]] bool TakesOut(uint32_t block) const {
    for (uint32_t i = first_; i < step_.ops.size(); ++i) {
      const std::string_view name = step_.NameOf(step_.ops[i]);
      if (step_.ops[i].node != kNone || (name != "aten::detach" && name != "aten::detach_")) continue;
      for (const Operand& operand : InputsOf(step_, step_.ops[i]))
        if (operand.block == block) return true;
    }
    return false;
  }

 private:
  const Step& step_;
  uint32_t first_ = 0;          // operator
  std::vector<uint32_t> node_;  // by operator: the node that it made
};

}  // namespace

std::vector<bool> GraphBehind(const Step& step, uint32_t block, Position from) {
  const Graph graph(step, from);
  return graph.TakesOut(block) ? std::vector<bool>(step.nodes.size(), false) : graph.Behind(block);
}

}  // namespace vramscope::whatif
