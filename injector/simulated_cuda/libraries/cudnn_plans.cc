// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/cudnn_plans.h"

#include "injector/simulated_cuda/libraries/cudnn_device.h"
#include "injector/simulated_cuda/libraries/cudnn_model.h"
#include "injector/simulated_cuda/libraries/cudnn_oracle.h"

namespace vramscope::simulated::cudnn {
namespace {

void SetDescriptor(Descriptor& in, int name, Descriptor* to) { in.Set(name, kDescriptor, 1, &to); }

// The graph that a plan computes; nullptr for a plan that names none.
Descriptor* GraphOf(const Descriptor& plan) {
  const Descriptor* const configuration = plan.Child(kPlanConfiguration);
  const Descriptor* const engine =
      configuration != nullptr ? configuration->Child(kConfigurationEngine) : nullptr;
  return engine != nullptr ? engine->Child(kEngineGraph) : nullptr;
}

// cuDNN's engines know their graph; the answer does not repeat it.
void TieToGraph(Descriptor& heuristics) {
  Descriptor* const graph = heuristics.Child(kHeuristicsGraph);
  for (Descriptor* const configuration : heuristics.Children(kHeuristicsResults)) {
    Descriptor* const engine = configuration->Child(kConfigurationEngine);
    if (engine != nullptr && graph != nullptr) SetDescriptor(*engine, kEngineGraph, graph);
  }
}

void ModelAnswer(Descriptor& descriptor) {
  if (descriptor.kind() == kEngineHeuristics) ProposeModelEngines(descriptor, ComputeCapability());
  const Descriptor* const graph = descriptor.kind() == kExecutionPlan ? GraphOf(descriptor) : nullptr;
  if (graph == nullptr) return;
  const Descriptor* const engine = descriptor.Child(kPlanConfiguration)->Child(kConfigurationEngine);
  descriptor.SetInt64(kPlanWorkspace,
                      ModelWorkspace(*graph, engine->Int64(kEngineIndex, 0), ComputeCapability()));
}

}  // namespace

int Finalize(Descriptor& descriptor) {
  if (descriptor.kind() != kEngineHeuristics && descriptor.kind() != kEngine &&
      descriptor.kind() != kExecutionPlan)
    return kOk;
  const OracleAnswer answer = AskOracle(descriptor);
  if (answer.status != kOk) return answer.status;
  if (answer.known) {
    descriptor.CopyFrom(*answer.descriptor);
  } else {
    ModelAnswer(descriptor);
  }
  if (descriptor.kind() == kEngineHeuristics) TieToGraph(descriptor);
  return kOk;
}

int Execute(Descriptor& plan) {
  Descriptor* const graph = GraphOf(plan);
  if (graph == nullptr) return kOk;
  const auto self = static_cast<int64_t>(reinterpret_cast<intptr_t>(&plan));
  const int64_t first = graph->Int64(kFirstExecuted, 0);
  if (first == 0) graph->SetInt64(kFirstExecuted, self);
  return first == 0 || first == self ? kOk : kNotSupported;
}

}  // namespace vramscope::simulated::cudnn
