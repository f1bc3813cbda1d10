// SPDX-License-Identifier: Apache-2.0
// Records the phases (forward, backward, optimizer) of a TensorFlow step that runs as one traced function
// (tf.function).
//
// No Python code runs during such a step, so the phases are derived from the names of the operators:
//
//   "StatefulPartitionedCall/mlp_1/fc1_1/MatMul"                  forward
//   "StatefulPartitionedCall/gradient_tape/mlp_1/fc1_1/MatMul_1"  backward
//   "StatefulPartitionedCall/adam/Square_2"                       optimizer (its name scope)
//
// Each change of phase is recorded as the counter "step.phase". Backward and optimizer phases alternate,
// because a variable is updated as soon as its gradient is computed. An operator with any other name does not
// change the phase.
#pragma once

#include <atomic>
#include <cstdint>

#include "injector/tensorflow/annotation.h"

namespace vramscope::injector::tensorflow {

// Values of the counter "step.phase" (see profiler/timeline/graph_phases.cc).
enum class Phase : uint8_t { kNone = 0, kForward = 1, kBackward = 2, kOptimizer = 3 };

extern std::atomic<Phase> phase;

// Call this before a traced function that runs a step. `scope` is the optimizer's name scope, such as "adam".
void BeginTracedStep(const char* scope);
void EndTracedStep();

void FollowPhase(const Text& op);
// Call this for each allocated block, before the allocation is recorded.
inline void FollowPhase(const Annotation* annotation) {
  if (__builtin_expect(phase.load(std::memory_order_relaxed) == Phase::kNone, 1)) return;
  if (annotation != nullptr && annotation->op.length != 0) FollowPhase(annotation->op);
}

}  // namespace vramscope::injector::tensorflow
