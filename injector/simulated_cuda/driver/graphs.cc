// SPDX-License-Identifier: Apache-2.0
// Stream capture and cuGraph*.
#include <algorithm>

#include "injector/simulated_cuda/device/graph.h"
#include "injector/simulated_cuda/device/graph_memory.h"
#include "injector/simulated_cuda/driver/context.h"

using namespace vramscope::simulated;

namespace {

thread_local int capture_mode = 0;  // CU_STREAM_CAPTURE_MODE_GLOBAL

int CaptureInfo(void* stream, int* status, uint64_t* id, Graph** graph, GraphNode* const** nodes,
                size_t* count) {
  const Streams::CaptureView view = TheStreams().CaptureOf(StreamOf(stream));
  *status = static_cast<int>(view.status);
  if (view.status == CaptureStatus::kNone) return kSuccess;
  if (id != nullptr) *id = view.id;
  if (graph != nullptr) *graph = view.graph;
  if (nodes != nullptr) *nodes = view.frontier->data();
  if (count != nullptr) *count = view.frontier->size();
  return kSuccess;
}

int Instantiate(ExecutableGraph** executable, const Graph* graph) {
  *executable = new ExecutableGraph{graph->nodes.size(), {}};
  for (const auto& node : graph->nodes) {
    if (node->address != 0) (*executable)->memory.push_back({node->type, node->address});
  }
  return kSuccess;
}

}  // namespace

SIMULATED_EXPORT int cuStreamBeginCapture_v2(void* stream, int) {
  return TheStreams().BeginCapture(StreamOf(stream), nullptr, {});
}

SIMULATED_EXPORT int cuStreamBeginCaptureToGraph(void* stream, Graph* graph, GraphNode* const* nodes,
                                                 const void*, size_t count, int) {
  return TheStreams().BeginCapture(StreamOf(stream), graph, Frontier(nodes, nodes + count));
}

SIMULATED_EXPORT int cuStreamEndCapture(void* stream, Graph** graph) {
  return TheStreams().EndCapture(StreamOf(stream), graph);
}

SIMULATED_EXPORT int cuStreamIsCapturing(void* stream, int* status) {
  return CaptureInfo(stream, status, nullptr, nullptr, nullptr, nullptr);
}

SIMULATED_EXPORT int cuStreamGetCaptureInfo_v2(void* stream, int* status, uint64_t* id, Graph** graph,
                                               GraphNode* const** nodes, size_t* count) {
  return CaptureInfo(stream, status, id, graph, nodes, count);
}

// With the edges' data, which is always the default here.
SIMULATED_EXPORT int cuStreamGetCaptureInfo_v3(void* stream, int* status, uint64_t* id, Graph** graph,
                                               GraphNode* const** nodes, const void** edges, size_t* count) {
  if (edges != nullptr) *edges = nullptr;
  return CaptureInfo(stream, status, id, graph, nodes, count);
}

SIMULATED_EXPORT int cuStreamUpdateCaptureDependencies(void* stream, GraphNode** nodes, size_t count,
                                                       unsigned flags) {
  return TheStreams().SetFrontier(StreamOf(stream), Frontier(nodes, nodes + count), flags == 0);
}

SIMULATED_EXPORT int cuStreamUpdateCaptureDependencies_v2(void* stream, GraphNode** nodes, const void*,
                                                          size_t count, unsigned flags) {
  return cuStreamUpdateCaptureDependencies(stream, nodes, count, flags);
}

SIMULATED_EXPORT int cuThreadExchangeStreamCaptureMode(int* mode) {
  std::swap(*mode, capture_mode);
  return kSuccess;
}

SIMULATED_EXPORT int cuGraphCreate(Graph** graph, unsigned) {
  *graph = new Graph;
  return kSuccess;
}

SIMULATED_EXPORT int cuGraphDestroy(Graph* graph) {
  delete graph;
  return kSuccess;
}

SIMULATED_EXPORT int cuGraphGetNodes(Graph* graph, GraphNode** nodes, size_t* count) {
  if (nodes != nullptr) {
    const size_t shown = std::min(*count, graph->nodes.size());
    for (size_t i = 0; i < shown; ++i) nodes[i] = graph->nodes[i].get();
  }
  *count = graph->nodes.size();
  return kSuccess;
}

SIMULATED_EXPORT int cuGraphNodeGetType(GraphNode* node, int* type) {
  *type = static_cast<int>(node->type);
  return kSuccess;
}

SIMULATED_EXPORT int cuGraphNodeGetDependencies_v2(GraphNode* node, GraphNode** nodes, void*, size_t* count) {
  if (nodes != nullptr)
    std::copy_n(node->dependencies.begin(), std::min(*count, node->dependencies.size()), nodes);
  *count = node->dependencies.size();
  return kSuccess;
}

// CUDA_MEM_ALLOC_NODE_PARAMS: the pool's properties (only the location is read), then these.
struct AllocationNode {
  int type, handle_types;
  MemoryLocation location;
  unsigned char rest[72];
  const void* access;
  size_t access_count, bytes;
  DevicePointer pointer;
};
// CUgraphNodeParams
struct NodeParameters {
  NodeType type;
  int reserved[3];
  union {
    AllocationNode allocation;
    DevicePointer freed;
  };
};

SIMULATED_EXPORT int cuGraphAddMemAllocNode(GraphNode** node, Graph* graph, GraphNode* const* nodes,
                                            size_t count, AllocationNode* allocation) {
  if (!IsDevice(allocation->location.id)) return kInvalidValue;
  const int error = TheGraphMemory().Add(allocation->location.id, allocation->bytes, &allocation->pointer);
  if (error != kSuccess) return error;
  *node = graph->Add(NodeType::kAllocation, Frontier(nodes, nodes + count));
  (*node)->address = allocation->pointer;
  return kSuccess;
}

SIMULATED_EXPORT int cuGraphAddMemFreeNode(GraphNode** node, Graph* graph, GraphNode* const* nodes,
                                           size_t count, DevicePointer pointer) {
  *node = graph->Add(NodeType::kFree, Frontier(nodes, nodes + count));
  (*node)->address = pointer;
  return kSuccess;
}

SIMULATED_EXPORT int cuGraphAddNode_v2(GraphNode** node, Graph* graph, GraphNode* const* nodes, const void*,
                                       size_t count, NodeParameters* parameters) {
  switch (parameters != nullptr ? parameters->type : NodeType::kEmpty) {
    case NodeType::kAllocation:
      return cuGraphAddMemAllocNode(node, graph, nodes, count, &parameters->allocation);
    case NodeType::kFree:
      return cuGraphAddMemFreeNode(node, graph, nodes, count, parameters->freed);
    default:
      *node = graph->Add(NodeType::kEmpty, Frontier(nodes, nodes + count));
      return kSuccess;
  }
}
SIMULATED_EXPORT int cuGraphAddNode_v3(GraphNode** node, Graph* graph, GraphNode* const* nodes,
                                       const void* edges, size_t count, NodeParameters* parameters) {
  return cuGraphAddNode_v2(node, graph, nodes, edges, count, parameters);
}
SIMULATED_EXPORT int cuGraphAddNode(GraphNode** node, Graph* graph, GraphNode* const* nodes, size_t count,
                                    NodeParameters* parameters) {
  return cuGraphAddNode_v2(node, graph, nodes, nullptr, count, parameters);
}

SIMULATED_EXPORT int cuGraphInstantiateWithFlags(ExecutableGraph** executable, Graph* graph,
                                                 unsigned long long) {
  return Instantiate(executable, graph);
}
SIMULATED_EXPORT int cuGraphUpload(ExecutableGraph*, void*) { return kSuccess; }
SIMULATED_EXPORT int cuGraphLaunch(ExecutableGraph* graph, void* stream) {
  for (const MemoryStep& step : graph->memory) {
    const int error = step.type == NodeType::kAllocation
                          ? TheGraphMemory().Use(step.address, SIMULATED_ORIGIN())
                          : TheGraphMemory().Unuse(step.address);
    if (error != kSuccess) return error;
  }
  return TheStreams().Issue(StreamOf(stream), NodeType::kChild);
}

SIMULATED_EXPORT int cuGraphExecDestroy(ExecutableGraph* executable) {
  delete executable;
  return kSuccess;
}

SIMULATED_EXPORT int cuGraphDebugDotPrint(Graph*, const char*, unsigned) { return kSuccess; }

// Objects that a graph keeps alive: the program's destructor is called with the last reference, which here is
// the creator's.
struct UserObject {
  void* object;
  void (*destroy)(void*);
  unsigned references;
};

SIMULATED_EXPORT int cuUserObjectCreate(UserObject** created, void* object, void (*destroy)(void*),
                                        unsigned references, unsigned) {
  *created = new UserObject{object, destroy, references};
  return kSuccess;
}

SIMULATED_EXPORT int cuUserObjectRelease(UserObject* object, unsigned count) {
  object->references -= std::min(object->references, count);
  if (object->references != 0) return kSuccess;
  object->destroy(object->object);
  delete object;
  return kSuccess;
}

// CU_GRAPH_USER_OBJECT_MOVE hands the caller's references over to the graph; graphs here keep them until the
// process ends.
SIMULATED_EXPORT int cuGraphRetainUserObject(Graph*, UserObject* object, unsigned count, unsigned flags) {
  constexpr unsigned kMove = 1;
  if (flags != kMove) object->references += count;
  return kSuccess;
}

SIMULATED_EXPORT int cuDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  *static_cast<uint64_t*>(value) = TheGraphMemory().Get(device, static_cast<GraphMemoryAttribute>(attribute));
  return kSuccess;
}
SIMULATED_EXPORT int cuDeviceSetGraphMemAttribute(int, int, void*) { return kSuccess; }
SIMULATED_EXPORT int cuDeviceGraphMemTrim(int device) {
  TheGraphMemory().Trim(device);
  return kSuccess;
}
SIMULATED_EXPORT int cuGraphConditionalHandleCreate(uint64_t* handle, Graph*, Context*, unsigned, unsigned) {
  *handle = 1;
  return kSuccess;
}
