// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/graph.h"

namespace vramscope::simulated {

GraphNode* Graph::Add(NodeType type, const Frontier& dependencies) {
  nodes.push_back(std::make_unique<GraphNode>(GraphNode{type, dependencies, 0}));
  return nodes.back().get();
}

}  // namespace vramscope::simulated
