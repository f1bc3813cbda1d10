// SPDX-License-Identifier: Apache-2.0
// Graphs of work: collected by a stream capture, replayed by a launch. Nodes have no content: nothing is
// computed.
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
  uint64_t address = 0;  // of kAllocation and kFree
};

// Nodes that the next node of a stream depends on.
using Frontier = std::vector<GraphNode*>;

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;

  GraphNode* Add(NodeType type, const Frontier& dependencies);
};

// Effects of a launch on memory, in order of the nodes.
struct MemoryStep {
  NodeType type;
  uint64_t address;
};

struct ExecutableGraph {
  uint64_t nodes;
  std::vector<MemoryStep> memory;
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
