// SPDX-License-Identifier: Apache-2.0
// Stream capture and cudaGraph*.
#include "injector/simulated_cuda/runtime/call.h"

using namespace vramscope::simulated;

SIMULATED_EXPORT int cudaStreamBeginCapture(void* stream, int mode) {
  ON_DEVICE(cuStreamBeginCapture(stream, mode));
}
SIMULATED_EXPORT int cudaStreamBeginCaptureToGraph(void* stream, void* graph, void* const* nodes,
                                                   const void* edges, size_t count, int mode) {
  ON_DEVICE(cuStreamBeginCaptureToGraph(stream, graph, nodes, edges, count, mode));
}
SIMULATED_EXPORT int cudaStreamEndCapture(void* stream, void** graph) {
  ON_DEVICE(cuStreamEndCapture(stream, graph));
}
SIMULATED_EXPORT int cudaStreamIsCapturing(void* stream, int* status) {
  ON_DEVICE(cuStreamIsCapturing(stream, status));
}
SIMULATED_EXPORT int cudaThreadExchangeStreamCaptureMode(int* mode) {
  WITH_DRIVER(cuThreadExchangeStreamCaptureMode(mode));
}

#if SIMULATED_CUDA_ABI >= 13
SIMULATED_EXPORT int cudaStreamGetCaptureInfo(void* stream, int* status, uint64_t* id, void** graph,
                                              void* const** nodes, const void** edges, size_t* count) {
  ON_DEVICE(cuStreamGetCaptureInfo(stream, status, id, graph, nodes, edges, count));
}
SIMULATED_EXPORT int cudaStreamUpdateCaptureDependencies(void* stream, void** nodes, const void* edges,
                                                         size_t count, unsigned flags) {
  ON_DEVICE(cuStreamUpdateCaptureDependencies(stream, nodes, edges, count, flags));
}
SIMULATED_EXPORT int cudaGraphNodeGetDependencies(void* node, void** nodes, void* edges, size_t* count) {
  WITH_DRIVER(cuGraphNodeGetDependencies(node, nodes, edges, count));
}
SIMULATED_EXPORT int cudaGraphAddNode(void** node, void* graph, void* const* nodes, const void* edges,
                                      size_t count, void* parameters) {
  WITH_DRIVER(cuGraphAddNode(node, graph, nodes, edges, count, parameters));
}
#else  // without edge data, which CUDA 13's forms have
SIMULATED_EXPORT int cudaStreamGetCaptureInfo_v2(void* stream, int* status, uint64_t* id, void** graph,
                                                 void* const** nodes, size_t* count) {
  ON_DEVICE(cuStreamGetCaptureInfo(stream, status, id, graph, nodes, nullptr, count));
}
SIMULATED_EXPORT int cudaStreamGetCaptureInfo(void* stream, int* status, uint64_t* id) {
  ON_DEVICE(cuStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr));
}
SIMULATED_EXPORT int cudaStreamUpdateCaptureDependencies(void* stream, void** nodes, size_t count,
                                                         unsigned flags) {
  ON_DEVICE(cuStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags));
}
SIMULATED_EXPORT int cudaGraphNodeGetDependencies(void* node, void** nodes, size_t* count) {
  WITH_DRIVER(cuGraphNodeGetDependencies(node, nodes, nullptr, count));
}
SIMULATED_EXPORT int cudaGraphAddNode(void** node, void* graph, void* const* nodes, size_t count,
                                      void* parameters) {
  WITH_DRIVER(cuGraphAddNode(node, graph, nodes, nullptr, count, parameters));
}
#endif

SIMULATED_EXPORT int cudaGraphAddEmptyNode(void** node, void* graph, void* const* nodes, size_t count) {
  WITH_DRIVER(cuGraphAddNode(node, graph, nodes, nullptr, count, nullptr));
}

SIMULATED_EXPORT int cudaGraphCreate(void** graph, unsigned flags) {
  WITH_DRIVER(cuGraphCreate(graph, flags));
}
SIMULATED_EXPORT int cudaGraphDestroy(void* graph) { WITH_DRIVER(cuGraphDestroy(graph)); }
SIMULATED_EXPORT int cudaGraphGetNodes(void* graph, void** nodes, size_t* count) {
  WITH_DRIVER(cuGraphGetNodes(graph, nodes, count));
}
SIMULATED_EXPORT int cudaGraphNodeGetType(void* node, int* type) {
  WITH_DRIVER(cuGraphNodeGetType(node, type));
}
SIMULATED_EXPORT int cudaGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long flags) {
  WITH_DRIVER(cuGraphInstantiateWithFlags(executable, graph, flags));
}
SIMULATED_EXPORT int cudaGraphInstantiate(void** executable, void* graph, unsigned long long flags) {
  WITH_DRIVER(cuGraphInstantiateWithFlags(executable, graph, flags));
}
SIMULATED_EXPORT int cudaGraphUpload(void*, void*) { return kSuccess; }
SIMULATED_EXPORT int cudaGraphLaunch(void* executable, void* stream) {
  ON_DEVICE(cuGraphLaunch(executable, stream));
}
SIMULATED_EXPORT int cudaGraphExecDestroy(void* executable) { WITH_DRIVER(cuGraphExecDestroy(executable)); }
SIMULATED_EXPORT int cudaGraphDebugDotPrint(void*, const char*, unsigned) { return kSuccess; }
SIMULATED_EXPORT int cudaGraphConditionalHandleCreate(uint64_t* handle, void* graph, unsigned value,
                                                      unsigned flags) {
  WITH_DRIVER(cuGraphConditionalHandleCreate(handle, graph, nullptr, value, flags));
}
SIMULATED_EXPORT int cudaUserObjectCreate(void** created, void* object, void (*destroy)(void*),
                                          unsigned references, unsigned flags) {
  WITH_DRIVER(cuUserObjectCreate(created, object, destroy, references, flags));
}
SIMULATED_EXPORT int cudaUserObjectRelease(void* object, unsigned count) {
  WITH_DRIVER(cuUserObjectRelease(object, count));
}
SIMULATED_EXPORT int cudaGraphRetainUserObject(void* graph, void* object, unsigned count, unsigned flags) {
  WITH_DRIVER(cuGraphRetainUserObject(graph, object, count, flags));
}
