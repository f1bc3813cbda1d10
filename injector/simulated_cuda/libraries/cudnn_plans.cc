// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/cudnn_plans.h"

#include "injector/simulated_cuda/libraries/cudnn_device.h"
#include "injector/simulated_cuda/libraries/cudnn_model.h"
#include "injector/simulated_cuda/libraries/cudnn_notes.h"
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

// Stores the graph in each proposed engine, as cuDNN does: the oracle's answer does not contain it.
void TieToGraph(Descriptor& heuristics) {
  Descriptor* const graph = heuristics.Child(kHeuristicsGraph);
  for (Descriptor* const configuration : heuristics.Children(kHeuristicsResults)) {
    Descriptor* const engine = configuration->Child(kConfigurationEngine);
    if (engine != nullptr && graph != nullptr) SetDescriptor(*engine, kEngineGraph, graph);
  }
}

bool IsConvolution(const Descriptor* graph) {
  const Descriptor* const first = graph != nullptr ? graph->Child(kGraphOperations) : nullptr;
  return first != nullptr && first->kind() >= kConvolutionForward &&
         first->kind() <= kConvolutionBackwardData;
}

// If cuDNN refuses a convolution here, it refuses it on a GPU too. For attention, cuDNN 9.26 returns few
// engines without a driver to check them with; a GPU would have some.
bool IsBelievable(const OracleAnswer& answer, const Descriptor& question) {
  if (question.kind() != kEngineHeuristics || IsConvolution(question.Child(kHeuristicsGraph))) return true;
  return answer.status == kOk && !answer.descriptor->Children(kHeuristicsResults).empty();
}

int AskOracleOrModel(Descriptor& descriptor) {
  const OracleAnswer answer = AskOracle(descriptor);
  const bool is_taken = answer.known && IsBelievable(answer, descriptor);
  if (is_taken && answer.status != kOk) return answer.status;
  if (is_taken) {
    descriptor.CopyFrom(*answer.descriptor);
  } else if (descriptor.kind() == kEngineHeuristics) {
    ProposeModelEngines(descriptor, ComputeCapability());
  }
  if (descriptor.kind() == kEngineHeuristics) TieToGraph(descriptor);
  return kOk;
}

// The heuristics returned the workspace with the configuration. Of 11,000 plans of convolutions (cuDNN 9.26,
// six GPUs) all had exactly that workspace, and all could be finalized.
bool TakeWorkspaceOfConfiguration(Descriptor& plan) {
  const Descriptor* const configuration = plan.Child(kPlanConfiguration);
  if (configuration == nullptr || configuration->Find(kConfigurationWorkspace) == nullptr) return false;
  plan.SetInt64(kPlanWorkspace, configuration->Int64(kConfigurationWorkspace, 0));
  return true;
}

}  // namespace

int Finalize(Descriptor& descriptor) {
  switch (descriptor.kind()) {
    case kExecutionPlan:
      return TakeWorkspaceOfConfiguration(descriptor) ? kOk : AskOracleOrModel(descriptor);
    case kEngineHeuristics:
    case kEngine:
      return AskOracleOrModel(descriptor);
    default:
      return kOk;
  }
}

void DescribeAsJson(Descriptor& plan) {
  if (plan.kind() != kExecutionPlan || plan.Find(kPlanJson) != nullptr) return;
  const OracleAnswer answer = AskOracle(plan);
  if (answer.descriptor != nullptr) plan.CopyFrom(*answer.descriptor);
}

int Execute(Descriptor& plan) {
  Descriptor* const graph = GraphOf(plan);
  if (graph == nullptr) return kOk;
  const auto self = static_cast<int64_t>(reinterpret_cast<intptr_t>(&plan));
  const int64_t first = graph->Int64(kFirstExecuted, 0);
  if (first == 0) graph->SetInt64(kFirstExecuted, self);
  if (first == 0 && IsConvolution(graph)) {
    const bool is_estimated = plan.Child(kPlanConfiguration)->Find(kIsEstimated) != nullptr;
    NoteWorkspace(is_estimated, plan.Int64(kPlanWorkspace, 0));
  }
  // The other graphs that PyTorch creates are those of attention. Their workspaces (the accumulator of dq and
  // the sums of softmax) are requested by the graph's creator (cudnn-frontend, in PyTorch).
  if (first == 0 && !IsConvolution(graph)) NoteUncounted(Operation::kAttention);
  return first == 0 || first == self ? kOk : kNotSupported;
}

}  // namespace vramscope::simulated::cudnn
