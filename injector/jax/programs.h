// SPDX-License-Identifier: Apache-2.0
// The compiled programs of JAX, and the shim's descriptions of their arguments and results.
//
// The Python code of a jitted function runs only when JAX traces and compiles the function. At that time the
// shim describes the compiled program once. The plug-in's hooks find the description of each execution by
// name and counts:
//
//   shim, at compilation     "jit_train_step", 22 arguments, 21 results: parameter "params['w']", ...
//   plug-in, each execution  an executable with the same name, 22 arguments and 21 results
//
// If several descriptions match, the newest is used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/core/api.h"
#include "injector/jax/pjrt_abi.h"

namespace vramscope::injector::jax {

inline constexpr size_t kLongestProgramName = 240;

enum class StepPart : uint32_t {
  kNone,
  kEnds,       // each execution is a whole step or the last part of a step
  kGradients,  // computes gradients; other programs update the parameters
};

struct Description {
  const Description* before;  // the description that was made before this one
  const char* program;
  uint32_t phase;  // value of counter "step.phase" during execution; 0 = no phase
  StepPart step;
  uint32_t argument_count;
  uint32_t result_count;
  VramscopeJaxLabel labels[];  // arguments, then results; role 0 = none
};

struct Program {
  const Description* description;  // nullptr: the shim has not described this program
  uint64_t temp_bytes;
  uint64_t executions;
  uint32_t session;  // session that defines the ids below
  uint32_t name;
  uint32_t stack;       // stack with one frame: the program's name
  uint32_t temp_stack;  // stack with one frame: name + " [temp]"
  uint32_t result_count;
};

// Fills in `program` and counts the execution. At the first execution, queries the plug-in. Returns false if
// the plug-in's query fails.
bool BeginExecution(LoadedExecutable* executable, size_t argument_count, Program* program);
// Copies the program's name, or "program" if the name is unknown. `name` must have room for
// kLongestProgramName + 1 bytes.
void CopyProgramName(LoadedExecutable* executable, char* name);
void ForgetProgram(const LoadedExecutable* executable);

}  // namespace vramscope::injector::jax
