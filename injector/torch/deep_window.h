// SPDX-License-Identifier: Apache-2.0
// Decides which steps are deep (operators, shapes and the autograd graph are recorded), and turns the bridge
// on and off. The bridge is the library that records these facts. A deep window is one or more whole steps,
// from the end of one optimizer step to the next.
//
//   depth=light  never                             depth=deep  deep_steps: "2-4", "3", "2-4,100-101"
//   depth=auto   steps 2 to 4, or deep_steps       depth=all   the whole run
//
//   step          1             2             3             4             5
//   ─────────────────┼─────────────┼─────────────┼─────────────┼──────────────
//              StepDone(1)   StepDone(2)   StepDone(3)    StepDone(4)
//                    ╰─ kDeepBegin, bridge on                  ╰─ bridge off, kDeepEnd
#pragma once

#include <atomic>
#include <cstdint>

#include "injector/core/native_stack.h"

namespace vramscope::injector {

// Function that returns the Python stack for a block that no operator allocates. nullptr outside deep steps.
extern std::atomic<uint32_t (*)()> python_stack_of_block;

// Returns the stack id for a new block: its Python stack from the bridge, or its native stack.
inline uint32_t BlockStackId() {
  auto* const python = python_stack_of_block.load(std::memory_order_relaxed);
  const uint32_t stack = __builtin_expect(python != nullptr, 0) ? python() : 0;
  return stack != 0 ? stack : NativeStackId();
}

// Loads the bridge (option bridge=PATH), and opens the window if step 1 is deep. Call when the program is
// about to train, but not inside an allocator, because this function calls dlopen. Further calls do nothing.
// True if the bridge is loaded.
bool PrepareDeepWindows();

// Call when step `done` (1 = first) has ended. True if the next step is deep.
bool StepDone(uint64_t done);
// Like StepDone, called from the hooks of torch::optim in C++ programs. Ignored once the Python shim has
// called StepDone.
void StepDoneInCxx(uint64_t done);

// Closes the window if a step is deep. Call when the recording ends.
void CloseDeepWindow();
// Makes steps count from 1 again. Call between two recordings. The bridge stays loaded.
void ForgetDeepWindows();

}  // namespace vramscope::injector
