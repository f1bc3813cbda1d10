// SPDX-License-Identifier: Apache-2.0
// The compiled programs of JAX, and the shim's descriptions of their arguments and results.
//
// Python sees a function only when it is traced and compiled. The shim describes it once. Each execution is
// recognized:
//
//   shim, at compilation     "jit_train_step", 22 arguments, 21 results: parameter "params['w']", ...
//   plug-in, each execution  an executable with that name and as many arguments and results
//
// If several descriptions fit, the newest counts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/core/api.h"
#include "injector/jax/pjrt_abi.h"

namespace vramscope::injector::jax {

inline constexpr size_t kLongestProgramName = 240;

enum class StepPart : uint32_t {
  kNone,
  kEnds,       // each execution is a whole step, or the last part
  kGradients,  // computes gradients; other programs do the update
};

struct Description {
  const Description* before;  // the description that was made before this one
  const char* program;
  uint32_t phase;  // counter "step.phase" while it runs; 0 = none
  StepPart step;
  uint32_t argument_count;
  uint32_t result_count;
  VramscopeJaxLabel labels[];  // arguments, then results; role 0 = none
};

struct Program {
  const Description* description;  // nullptr: the shim has not described it
  uint64_t temp_bytes;
  uint64_t executions;
  uint32_t session;  // session in which the ids below are defined
  uint32_t name;
  uint32_t stack;       // one frame: its name
  uint32_t temp_stack;  // one frame: its name with " [temp]"
  uint32_t result_count;
};

// Fills in `program` (from the plug-in at the first execution) and counts the execution. False if the plug-in
// does not answer.
bool BeginExecution(LoadedExecutable* executable, size_t argument_count, Program* program);
// `name`: room for kLongestProgramName + 1; "program" if unknown.
void CopyProgramName(LoadedExecutable* executable, char* name);
void ForgetProgram(const LoadedExecutable* executable);

}  // namespace vramscope::injector::jax
