// SPDX-License-Identifier: Apache-2.0
// Detects the ends of training steps in JAX, and labels optimizer state that single operations update.
//
// A program may compute gradients without updating the parameters. Then this program is the first part of a
// step. One other program, or hundreds of single operations, update the parameters:
//
//   gradients   params -> g                 if params are new buffers, the previous step has ended
//   multiply    m * 0.9 -> a                optimizer state: m comes from a gradient of an earlier step
//   add         a + g * 0.1 -> m
//   add         params + updates -> params
//
// A buffer is optimizer state if it was computed from a gradient before the last update and is read after
// this update. `a` and `updates` are not read again after the update, so they are not optimizer state.
//
// With gradient accumulation, params are still the same buffers at the next gradient program. Then no step
// has ended, and the sum of gradients is not labeled as state.
#pragma once

#include "injector/jax/buffers.h"
#include "injector/jax/programs.h"

namespace vramscope::injector::jax {

// Labels the arguments of a program on one device that are optimizer state. Returns Block::state of the
// largest argument that was computed from gradients, or 0 if there is none.
uint32_t StateOfArguments(const ExecuteArguments& arguments, size_t device);

// Call before an execution with this description.
void BeginStepPart(const ExecuteArguments& arguments, const Description& description);
// Call after a successful execution.
void EndStepPart(const Program& program);

}  // namespace vramscope::injector::jax
