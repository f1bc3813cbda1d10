// SPDX-License-Identifier: Apache-2.0
// Records an autograd node when the engine starts it: identity, name and edges.
//
// The engine runs each node inside a RecordFunction named "autograd::engine::evaluate_function:
// AddmmBackward0" (torch/csrc/autograd/engine.cpp). At that time, the node is the thread's current node.
#pragma once

#define AT_PER_OPERATOR_HEADERS 1  // accumulate_grad.h then includes one operator: 3 s less to compile
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <cstdint>
#include <cstring>
#include <typeinfo>

#include "injector/torch/bridge/host.h"
#include "injector/torch/bridge/text_cache.h"

namespace vramscope::bridge {

// Returns the node's name within the name of a RecordFunction; nullptr for other RecordFunctions.
inline const char* EvaluatedNodeName(const char* scope) {
  static constexpr char kPrefix[] = "autograd::engine::evaluate_function: ";
  constexpr size_t kLength = sizeof kPrefix - 1;
  return std::strncmp(scope, kPrefix, kLength) == 0 ? scope + kLength : nullptr;
}

// Returns the tensor whose gradient `node` accumulates (address of its TensorImpl); 0 for other nodes.
inline uint64_t AccumulatedTensor(const torch::autograd::Node& node) {
  if (typeid(node) != typeid(torch::autograd::AccumulateGrad)) return 0;
  return reinterpret_cast<uint64_t>(
      static_cast<const torch::autograd::AccumulateGrad&>(node).variable.unsafeGetTensorImpl());
}

// Emits kNodeBegin, and one kNodeEdge per edge of the node, in order. The n-th edge belongs to the n-th input
// of the forward operator. An edge without a next node has next = 0.
inline void EmitNodeBegin(const torch::autograd::Node& node, const char* name, NameCache& names) {
  const uint64_t address = reinterpret_cast<uint64_t>(&node);
  Emit<trace::EventType::kNodeBegin>(address, names.Id(name), node.sequence_nr());
  for (const torch::autograd::Edge& edge : node.next_edges()) {
    const torch::autograd::Node* next = edge.function.get();
    Emit<trace::EventType::kNodeEdge>(address, reinterpret_cast<uint64_t>(next), edge.input_nr,
                                      next == nullptr ? 0 : AccumulatedTensor(*next));
  }
}

}  // namespace vramscope::bridge
