// SPDX-License-Identifier: Apache-2.0
// Detects ends of steps, and labels optimizer state that no described program updates.
//
// A program that computes gradients without an update is the first part of a step. The other parts may be one
// program, or hundreds of single operations:
//
//   gradients   params -> g                        the step before ends here, if params are new buffers
//   multiply    m * 0.9 -> a                       m was computed from a gradient before the last update, and is
//   add         a + g * 0.1 -> m                   read again: state. a and updates are not read again after that
//   add         params + updates -> params
//
// With accumulated gradients, params are the old buffers: no step has ended, and the sum of gradients is no
// state.
#pragma once

#include "injector/jax/buffers.h"
#include "injector/jax/programs.h"

namespace vramscope::injector::jax {

// Labels arguments of a program, on one device, that are optimizer state computed from gradients. Returns the
// `state` of the largest; 0 = none.
uint32_t StateOfArguments(const ExecuteArguments& arguments, size_t device);

// Call before an execution with this description.
void BeginStepPart(const ExecuteArguments& arguments, const Description& description);
// Call after a successful execution.
void EndStepPart(const Program& program);

}  // namespace vramscope::injector::jax
