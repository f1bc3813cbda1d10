// SPDX-License-Identifier: Apache-2.0
// Records the phases (forward, backward, optimizer) of a step that TensorFlow runs as one traced function.
//
// No Python runs in such a step. The names of the operators show the phase:
//
//   "StatefulPartitionedCall/mlp_1/fc1_1/MatMul"                  forward
//   "StatefulPartitionedCall/gradient_tape/mlp_1/fc1_1/MatMul_1"  backward
//   "StatefulPartitionedCall/adam/Square_2"                       optimizer (its name scope)
//
// Each change is recorded as the counter "step.phase". Backward and optimizer alternate: a variable is
// updated as soon as its gradient exists. Other operators change nothing.
#pragma once

#include <atomic>
#include <cstdint>

#include "injector/tensorflow/annotation.h"

namespace vramscope::injector::tensorflow {

// Values of the counter "step.phase" (see profiler/timeline/graph_phases.cc).
enum class Phase : uint8_t { kNone = 0, kForward = 1, kBackward = 2, kOptimizer = 3 };

extern std::atomic<Phase> phase;

// Call before a traced function that is a step. `scope`: the optimizer's name scope, "adam".
void BeginTracedStep(const char* scope);
void EndTracedStep();

void FollowPhase(const Text& op);
// Call for each block, before it is recorded.
inline void FollowPhase(const Annotation* annotation) {
  if (__builtin_expect(phase.load(std::memory_order_relaxed) == Phase::kNone, 1)) return;
  if (annotation != nullptr && annotation->op.length != 0) FollowPhase(annotation->op);
}

}  // namespace vramscope::injector::tensorflow
