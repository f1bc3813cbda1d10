// SPDX-License-Identifier: Apache-2.0
// CUDA graphs of the simulated GPU. A stream capture builds a graph; a launch of the graph repeats its
// effects on memory. Nodes have no parameters because the simulated GPU computes nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace vramscope::simulated {

// CUgraphNodeType and cudaGraphNodeType.
enum class NodeType : int {
  kKernel = 0,
  kCopy = 1,
  kSet = 2,
  kHost = 3,
  kChild = 4,
  kEmpty = 5,
  kAllocation = 10,
  kFree = 11,
  kConditional = 13
};

struct GraphNode {
  NodeType type;
  std::vector<GraphNode*> dependencies;
  uint64_t address = 0;  // the allocated or freed memory; only for kAllocation and kFree
};

// The nodes that the next captured node of a stream will depend on.
using Frontier = std::vector<GraphNode*>;

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;

  GraphNode* Add(NodeType type, const Frontier& dependencies);
};

// One effect of a graph launch on memory: an allocation or a free.
struct MemoryStep {
  NodeType type;
  uint64_t address;
};

struct ExecutableGraph {
  uint64_t nodes;                  // number of nodes
  std::vector<MemoryStep> memory;  // in the order of the nodes
};

// CUstreamCaptureStatus.
enum class CaptureStatus : int { kNone = 0, kActive = 1, kInvalidated = 2 };

// One capture, shared by all streams that have joined it.
struct Capture {
  uint64_t id;
  Graph* graph;
  bool owns_graph;
  CaptureStatus status = CaptureStatus::kActive;
};

}  // namespace vramscope::simulated
